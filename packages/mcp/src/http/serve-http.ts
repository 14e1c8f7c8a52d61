import { MeshError } from '@git-mesh/core';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectClient, LazyMesh, type ServeOptions } from '../connect-client.js';
import type { Serving } from '../serve-stdio.js';
import { answerError } from './answer.js';
import { HttpSessions } from './http-sessions.js';
import { answerMcp, mcpPath, type McpEndpointOptions } from './mcp-endpoint.js';

export interface ServeHttpOptions extends ServeOptions {
  /** 0 for any that is free. */
  port: number;
  token: string;
  /** Milliseconds since 1970; the default is the system's clock. */
  now?: () => number;
}

export interface ServingHttp extends Serving {
  readonly url: string;
}

const expiryEveryMs = 60_000;
/** A client that sends its headers or its request slower than this is no client of this machine. */
const requestTimeoutMs = 30_000;

/**
 * Serves any number of clients over Streamable HTTP on the loopback interface, all over one open mesh. Loading this file
 * loads the SDK's part for it.
 *
 * @throws MeshError `conflict` where the port is taken or may not be listened on.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<ServingHttp> {
  const { token, logger, now = Date.now } = options;
  const mesh = new LazyMesh(options);
  const sessions = new HttpSessions({
    connect: ({ textOf }) => connectClient(options, { mesh, textOf }),
    now,
  });
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs });
  const port = await listen(server, options.port);
  const endpoint: McpEndpointOptions = { sessions, logger, port, token, now };
  server.on('request', (request, response) => {
    answerMcp(request, response, endpoint).catch((error: unknown) => {
      logger.warn(`http: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      if (response.headersSent) response.destroy();
      else answerError(response, 500, 'internal error; details are in the server log');
    });
  });
  const expiry = setInterval(() => {
    sessions.expire();
  }, expiryEveryMs).unref();
  return {
    url: `http://127.0.0.1:${port}${mcpPath}`,
    endCalls: () => sessions.endCalls(),
    close: async () => {
      clearInterval(expiry);
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      await sessions.close();
      server.closeAllConnections();
      await closed;
      await mesh.close();
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : (error.code ?? error.message);
      reject(
        new MeshError('conflict', `cannot listen on port ${port} of 127.0.0.1: ${why}; name another, or 0 for any`),
      );
    });
    server.listen({ host: '127.0.0.1', port }, () => {
      // A TCP server that listens has an address of this form.
      resolve((server.address() as AddressInfo).port);
    });
  });
}
