import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MeshError, isSameSecret } from '@git-mesh/core';
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
 * @throws MeshError `invalid_argument` where the port is no port, or is taken.
 */
export async function startUiServer(options: { port: number; files: UiFiles; feed: LiveFeed }): Promise<UiServer> {
  const { port, files, feed } = options;
  const token = randomBytes(32).toString('base64url');
  let hosts = new Set<string>();
  const server = createServer({ maxHeaderSize: 8192, requestTimeout: 10_000 }, (request, response) => {
    const refusal = refusalOf(request, { hosts, token });
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
      reject(
        new MeshError('invalid_argument', `port ${port} of ${address} cannot be used (${error.code ?? 'unknown'}): give another, or none`, { cause: error }), // prettier-ignore
      );
    });
    server.listen({ host: address, port }, () => {
      // A TCP server's address is no path.
      resolve((server.address() as AddressInfo).port);
    });
  });
  hosts = new Set([address, 'localhost'].flatMap((host) => [`${host}:${bound}`, ...(bound === 80 ? [host] : [])]));
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

/** A page elsewhere that resolves a name of its own to this address has that name as its host, and no token. */
function refusalOf(
  { method, url, headers: { host, origin } }: IncomingMessage,
  { hosts, token }: { hosts: ReadonlySet<string>; token: string },
): [status: number, text: string] | null {
  if (host === undefined || !hosts.has(host.toLowerCase())) return [403, 'This host name is not served here.\n'];
  if (origin !== undefined && origin !== `http://${host}`) return [403, 'Other sites are not served.\n'];
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
