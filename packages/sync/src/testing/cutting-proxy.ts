import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export type Direction = 'up' | 'down';

/** Stands between a client and a real server on loopback, counts what passes, and cuts connections where it is told to. */
export class CuttingProxy {
  /** Bytes that passed, of all connections: to the server, and from it. */
  readonly passed = { up: 0, down: 0 };
  connections = 0;
  /** How many connections were cut. */
  cuts = 0;
  #cut: { direction: Direction; after: number } | null = null;
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => {
      this.#pass(client);
    });
  }

  static async start(targetPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on each connection ends after so many bytes in one direction, which still pass; null lets all through. */
  cutAfter(cut: { direction: Direction; after: number } | null): void {
    this.#cut = cut;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #pass(client: Socket): void {
    this.connections += 1;
    const server = connect(this.#target, '127.0.0.1');
    const both = [client, server];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const other of both) other.destroySoon();
      });
    }
    this.#forward('up', client, server);
    this.#forward('down', server, client);
  }

  #forward(direction: Direction, from: Socket, to: Socket): void {
    const cut = this.#cut;
    let left = cut?.direction === direction ? cut.after : Infinity;
    from.on('data', (bytes: Buffer) => {
      if (left <= 0) return;
      const some = bytes.subarray(0, Math.min(bytes.length, left));
      left -= some.length;
      this.passed[direction] += some.length;
      if (!to.write(some)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
      if (left > 0) return;
      this.cuts += 1;
      // What was let through still arrives; then the line is dead on both sides.
      to.end(() => {
        to.destroy();
        from.destroy();
      });
    });
    from.on('end', () => to.end());
  }
}
