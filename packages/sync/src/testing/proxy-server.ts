import * as http from 'node:http';
import * as net from 'node:net';
import type { AddressInfo } from 'node:net';

/** A forward proxy: CONNECT for TLS, whole URLs for plain http. */
export class ProxyServer {
  /** As in "CONNECT 127.0.0.1:443" or "GET http://127.0.0.1/x". */
  readonly seen: string[] = [];
  /** What `Proxy-Authorization` must be; null for anybody. */
  authorization: string | null = null;
  /** Answers every CONNECT with this status where it is not 200. */
  connectStatus = 200;
  readonly #server: http.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor() {
    this.#server = http.createServer((request, response) => {
      this.#forward(request, response);
    });
    this.#server.on('connect', (request: http.IncomingMessage, socket: net.Socket, head: Buffer) => {
      this.#connect(request, socket, head);
    });
  }

  static async start(): Promise<ProxyServer> {
    const proxy = new ProxyServer();
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  url(user = ''): string {
    return `http://${user === '' ? '' : `${user}@`}127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Open tunnels, either end counted. */
  get tunnels(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #allowed(request: http.IncomingMessage): boolean {
    return this.authorization === null || request.headers['proxy-authorization'] === this.authorization;
  }

  #connect(request: http.IncomingMessage, socket: net.Socket, head: Buffer): void {
    this.seen.push(`CONNECT ${request.url ?? ''}`);
    const status = this.#allowed(request) ? this.connectStatus : 407;
    socket.on('error', () => undefined);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const far = net.connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      far.write(head);
      far.pipe(socket).pipe(far);
    });
    far.on('error', () => socket.destroy());
    for (const each of [socket, far]) {
      this.#sockets.add(each);
      each.once('close', () => {
        this.#sockets.delete(each);
        socket.destroy();
        far.destroy();
      });
    }
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (!this.#allowed(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
      return;
    }
    const { 'proxy-authorization': _own, ...headers } = request.headers;
    const far = http.request(request.url ?? '', { method: request.method ?? '', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    far.on('error', () => response.destroy());
    request.pipe(far);
  }
}
