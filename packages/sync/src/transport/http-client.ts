import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { createGunzip } from 'node:zlib';
import { MeshError } from '@git-mesh/core';
import { connectionError } from './http-errors.js';
import { IdleTimer } from './idle-timer.js';
import { proxyAuthorization, proxyName } from './proxy.js';
import { openTunnel } from './tunnel.js';

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Without user and password. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Bytes are sent with their length, anything else in chunks. */
  body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface HttpResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /**
   * Decompressed. Ends normally only where the whole answer came; leaving it early drops the connection.
   * @throws MeshError `unreachable` where it was cut, `deadline` where the server went quiet or the signal fired.
   */
  body: AsyncIterable<Uint8Array>;
  /** Drops what was not read, connection included. */
  drop(): void;
}

export interface HttpClientOptions {
  signal: AbortSignal;
  /** Between two signs of life of the server, in any step. */
  idleMs: number;
  /** Null for a remote at http. */
  trust: SecureContext | null;
  proxy: URL | null;
}

const pieceBytes = 64 * 1024;

/**
 * HTTP/1.1 for one exchange: its requests share a connection where the server keeps it open. Nothing of it ever waits
 * longer than the signal and `idleMs` let it. Follows no redirect and knows no credentials but the proxy's.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #sockets = new Set<Duplex>();
  readonly #agent: http.Agent;
  #closed = false;
  readonly #onAbort = (): void => {
    this.#destroy();
  };

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { proxy, trust } = options;
    const toProxy = proxy !== null && trust === null;
    const shared = { keepAlive: true, maxSockets: 1 };
    this.#agent =
      trust === null && !(toProxy && proxy.protocol === 'https:')
        ? new http.Agent(shared)
        : new https.Agent({
            ...shared,
            // Said outright: NODE_TLS_REJECT_UNAUTHORIZED=0 must not turn it off.
            rejectUnauthorized: true,
            ...(trust === null ? {} : { secureContext: trust }),
          });
    if (proxy !== null && trust !== null) this.#tunnelThrough(proxy, trust);
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Resolves as soon as the head of the answer is there, whatever its status.
   * @throws MeshError `unreachable`, `protocol_error` (no http), `deadline`; what the caller's body throws.
   */
  async request(options: HttpRequest): Promise<HttpResponse> {
    if (this.#closed || this.#options.signal.aborted) throw this.#over();
    const request = this.#start(options);
    const idle = new IdleTimer(this.#options.idleMs, this.#where(), (error) => request.destroy(error));
    idle.begin('connecting');
    request.once('socket', (socket) => {
      this.#track(socket);
      socket.once('connect', () => {
        idle.begin('connecting');
      });
    });
    const sent = new SendState();
    const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      // Stays: what breaks after the head is told by the body.
      request.on('error', reject);
    });
    void send(request, options.body, idle, sent);
    try {
      const response = await answered;
      idle.stop();
      return this.#response(request, response, sent);
    } catch (error) {
      idle.stop();
      request.destroy();
      throw sent.bodyError ?? this.#failure(error, idle.step);
    }
  }

  /** Ends every connection, at once. Never throws; safe to call twice. When it resolves none is left. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    const gone = [...this.#sockets].map((socket) => (socket.closed ? Promise.resolve() : once(socket, 'close')));
    this.#destroy();
    await Promise.all(gone);
  }

  #start({ method, url, headers, body }: HttpRequest): http.ClientRequest {
    const { proxy, trust } = this.#options;
    const length = body === undefined ? {} : body instanceof Uint8Array ? { 'content-length': body.length } : {};
    const all: http.OutgoingHttpHeaders = { ...headers, ...length, host: url.host };
    if (proxy === null || trust !== null) {
      const secure = url.protocol === 'https:';
      if (secure !== (trust !== null)) throw new Error('a client speaks either http or https');
      return (secure ? https : http).request(url, { method, headers: all, agent: this.#agent });
    }
    // A plain request through a proxy names the whole URL, and carries the proxy's credentials itself.
    const authorization = proxyAuthorization(proxy);
    if (authorization !== null) all['proxy-authorization'] = authorization;
    const target = { method, headers: all, agent: this.#agent, path: url.href };
    const at = new URL(proxy.origin);
    return (at.protocol === 'https:' ? https : http).request(at, target);
  }

  /** Every new connection of the agent is one through the proxy, TLS with the remote inside. */
  #tunnelThrough(proxy: URL, trust: SecureContext): void {
    const agent = this.#agent;
    agent.createConnection = (options, done) => {
      const host = String(options.host);
      const port = Number(options.port);
      const { signal } = this.#options;
      openTunnel({
        proxy,
        host,
        port,
        trust,
        signal,
        track: (socket) => {
          this.#track(socket);
        },
      }).then(
        (socket) => done?.(null, socket),
        (error: unknown) => done?.(error as Error, undefined as unknown as Duplex),
      );
      return undefined;
    };
  }

  #track(socket: Duplex): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#closed) socket.destroy();
  }

  #response(request: http.ClientRequest, response: http.IncomingMessage, sent: SendState): HttpResponse {
    const drop = (): void => {
      response.on('error', () => undefined);
      request.destroy();
    };
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: this.#body(request, response, sent),
      drop,
    };
  }

  async *#body(
    request: http.ClientRequest,
    response: http.IncomingMessage,
    sent: SendState,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const idle = new IdleTimer(this.#options.idleMs, this.#where(), (error) => response.destroy(error));
    let whole = false;
    try {
      const chunks = decoded(response)[Symbol.asyncIterator]();
      for (;;) {
        // Only while we wait: a reader that takes its time is no fault of the server's.
        idle.begin('sending its answer');
        const step = await chunks.next();
        idle.end();
        if (step.done === true) break;
        yield step.value;
      }
      whole = sent.bodyError === undefined;
    } catch (error) {
      throw sent.bodyError ?? this.#failure(error, idle.step);
    } finally {
      idle.end();
      if (!whole) {
        response.on('error', () => undefined);
        request.destroy();
      }
    }
    if (sent.bodyError !== undefined) throw sent.bodyError as Error;
  }

  #where(): string {
    const { proxy } = this.#options;
    return proxy === null ? 'the remote' : `the remote (through the proxy ${proxyName(proxy)})`;
  }

  #failure(error: unknown, step: string): unknown {
    if (this.#options.signal.aborted || this.#closed) return this.#over(error);
    return connectionError(error, { where: this.#where(), step });
  }

  #over(cause?: unknown): MeshError {
    if (!this.#options.signal.aborted && this.#closed) {
      return new MeshError('unreachable', 'the exchange with the remote was ended', { cause });
    }
    return new MeshError('deadline', 'the remote did not answer in the time given to it', { cause });
  }

  #destroy(): void {
    this.#closed = true;
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** What the caller's body threw while it was sent: a request that is not whole must not be taken for one. */
class SendState {
  bodyError: unknown = undefined;
}

async function send(
  request: http.ClientRequest,
  body: HttpRequest['body'],
  idle: IdleTimer,
  state: SendState,
): Promise<void> {
  try {
    for await (const part of body === undefined ? [] : body instanceof Uint8Array ? [body] : body) {
      for (let at = 0; at < part.length; at += pieceBytes) {
        if (request.destroyed) return;
        idle.begin('taking the request');
        // In pieces, so that a slow line shows that it lives.
        if (!request.write(part.subarray(at, at + pieceBytes))) await drained(request);
      }
    }
    request.end(() => {
      idle.begin('working on the request');
    });
  } catch (error) {
    state.bodyError = error;
    request.destroy();
  }
}

/** Resolves when more can be written, or nothing will ever be. */
function drained(request: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.on('drain', done).on('close', done);
  });
}

function decoded(response: http.IncomingMessage): AsyncIterable<Uint8Array> {
  const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new MeshError('protocol_error', 'the remote compresses its answer in a way that it was not asked to');
  }
  const gunzip = createGunzip();
  response.once('error', (error) => gunzip.destroy(error));
  return response.pipe(gunzip);
}
