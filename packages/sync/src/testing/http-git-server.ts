import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: http.IncomingHttpHeaders;
  /** What the client's socket is called, to tell connections apart. */
  from: string;
}

export type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => boolean;

export interface HttpGitServerOptions {
  /** The folder whose repositories are served. */
  root: string;
  env: Readonly<Record<string, string>>;
  tls?: { key: string; cert: string };
}

/** Stock `git http-backend` behind node's own server, pushes allowed. What it does wrong is put before it by a test. */
export class HttpGitServer {
  readonly seen: SeenRequest[] = [];
  /** With it every request must bring this user and password (Basic). */
  login: { username: string; password: string } | null = null;
  /** Answers in place of git where it returns true. */
  before: Handler = () => false;
  /** What git answers goes through it. */
  through: (chunk: Buffer, response: http.ServerResponse) => void = (chunk, response) => response.write(chunk);
  readonly #options: HttpGitServerOptions;
  readonly #server: http.Server | https.Server;

  private constructor(options: HttpGitServerOptions) {
    this.#options = options;
    const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
      this.#serve(request, response);
    };
    this.#server = options.tls === undefined ? http.createServer(listener) : https.createServer(options.tls, listener);
  }

  static async start(options: HttpGitServerOptions): Promise<HttpGitServer> {
    const server = new HttpGitServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The URL of what lies at `path` below the root. `user` is put in front of the host, as in `bob:secret`. */
  url(path: string, user = ''): string {
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://${user === '' ? '' : `${user}@`}127.0.0.1:${this.port}/${path.replace(/^\/+/, '')}`;
  }

  /** How many connections are open. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #serve(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method = '', url = '', headers, socket } = request;
    this.seen.push({ method, url, headers, from: `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}` });
    request.on('error', () => undefined);
    if (this.before(request, response)) return;
    const user = this.#user(headers);
    if (this.login !== null && user === null) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-type': 'text/plain' });
      response.end('who are you?\n');
      return;
    }
    this.#git(request, response, user ?? '');
  }

  #user(headers: http.IncomingHttpHeaders): string | null {
    if (this.login === null) return null;
    const { username, password } = this.login;
    const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return headers.authorization === expected ? username : null;
  }

  #git(request: http.IncomingMessage, response: http.ServerResponse, user: string): void {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const child = spawn('git', ['http-backend'], {
      env: {
        ...this.#options.env,
        GIT_PROJECT_ROOT: this.#options.root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'http.receivepack',
        GIT_CONFIG_VALUE_0: 'true',
        PATH_INFO: decodeURIComponent(path),
        QUERY_STRING: query,
        REQUEST_METHOD: request.method ?? '',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
        REMOTE_ADDR: '127.0.0.1',
        REMOTE_USER: user,
        ...(request.headers['content-length'] === undefined
          ? {}
          : { CONTENT_LENGTH: request.headers['content-length'] }),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
      // `git` runs it as a child of its own, which spins for ever on a request that was cut, unless it is ended too.
      detached: process.platform !== 'win32',
    });
    child.stdin.on('error', () => undefined);
    request.pipe(child.stdin);
    let head: Buffer | null = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      if (head === null) {
        this.through(chunk, response);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const fields = head.toString('latin1', 0, end).split('\r\n');
      const rest = head.subarray(end + 4);
      head = null;
      let status = 200;
      for (const field of fields) {
        const [name = '', value = ''] = field.split(/:\s*/, 2);
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.statusCode = status;
      if (rest.length > 0) this.through(rest, response);
    });
    child.once('close', () => response.end());
    response.once('close', () => {
      endGroup(child);
    });
  }
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // All of it has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
