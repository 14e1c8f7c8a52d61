import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeaderProxy {
  port: number;
  close(): Promise<void>;
}

/** A text of a request's body and what is sent in its place. */
export type Replacement = readonly [from: string, to: string];

/**
 * Hands requests on to a server on this machine with its token added, for a client that can send none. The name in Host
 * stays as it came, so that the server's own checks are what is tested; only the proxy's port becomes the server's.
 */
export async function headerProxy(
  target: { port: number; token: string },
  replacements: readonly Replacement[],
): Promise<HeaderProxy> {
  const server: Server = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${target.token}` };
    // The body's length may change.
    delete headers['content-length'];
    headers.host = (headers.host ?? '').replace(new RegExp(`:${port}$`), `:${target.port}`);
    const onward = request(
      { host: '127.0.0.1', port: target.port, path: incoming.url, method: incoming.method, headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        answer.flushHeaders();
        response.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
    incoming.on('end', () => {
      onward.end(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
