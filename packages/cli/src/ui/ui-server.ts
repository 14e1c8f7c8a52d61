import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MeshError, foreignRequest, isSameSecret } from '@git-mesh/core';
import type { LiveFeed } from './live-feed.js';

const address = '127.0.0.1';
/** Each page has its stream and asks for four files. */
const maxConnections = 64;

/** A file of the page by its name in the URL; '' is the page itself. */
export type UiFiles = ReadonlyMap<string, { type: string; text: string }>;

export interface UiServer {
  /** With the token, which is all that a reader needs: for this user alone. */
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Serves the page on loopback to whoever has its token. It stands in the path, not in a cookie: browsers send those to
 * every port of a host, and so to other users' servers; `no-referrer` keeps the path out of what other sites see.
 *
 * @throws MeshError `conflict` where the port is taken or may not be listened on.
 */
export async function startUiServer(options: { port: number; files: UiFiles; feed: LiveFeed }): Promise<UiServer> {
  const { port, files, feed } = options;
  const token = randomBytes(32).toString('base64url');
  let served = port;
  const server = createServer({ maxHeaderSize: 8192, requestTimeout: 10_000 }, (request, response) => {
    const refusal = refusalOf(request, { port: served, token });
    const name = request.url?.slice(token.length + 2) ?? '';
    const file = files.get(name);
    if (refusal !== null) answer(response, ...refusal);
    else if (file !== undefined) answer(response, 200, file.text, file.type);
    else if (name !== 'events') answer(response, 404, 'There is no such page.\n');
    else if (feed.isFull) answer(response, 503, 'Too many pages are open: close one.\n');
    else {
      response.writeHead(200, headers('text/event-stream; charset=utf-8'));
      feed.add(response);
    }
  });
  server.maxConnections = maxConnections;
  const bound = await new Promise<number>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : (error.code ?? error.message);
      reject(new MeshError('conflict', `cannot listen on port ${port} of ${address}: ${why}; name another, or none for a free one`, { cause: error })); // prettier-ignore
    });
    server.listen({ host: address, port }, () => {
      // A TCP server's address is no path.
      resolve((server.address() as AddressInfo).port);
    });
  });
  served = bound;
  return {
    url: `http://${address}:${bound}/${token}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function refusalOf(
  { method, url, headers }: IncomingMessage,
  { port, token }: { port: number; token: string },
): [status: number, text: string] | null {
  const isPage = method === 'GET' && /^\/[^/]*\/$/.test(url ?? '');
  const foreign = foreignRequest(headers, { port, pages: 'own', isPage });
  if (foreign !== null) return [403, `Not served: ${foreign}.\n`];
  const given = /^\/([^/]*)\//.exec(url ?? '')?.[1] ?? '';
  if (!isSameSecret(given, token)) return [403, 'The whole address that git mesh ui printed is needed.\n'];
  if (method !== 'GET') return [405, 'Nothing can be changed here.\n'];
  return null;
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { ...headers(type), ...(status === 405 ? { Allow: 'GET' } : {}) });
  response.end(text);
}

const headers = (type: string): Record<string, string> => ({
  'Content-Type': type,
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
});
