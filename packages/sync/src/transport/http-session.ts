import { MeshError } from '@git-mesh/core';
import type { Credential, Credentials } from './credentials.js';
import { basicAuthorization } from './credentials.js';
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.js';
import { statusError } from './http-errors.js';
import { maxRedirects, redirectedBase } from './redirect.js';

export interface HttpSessionOptions {
  /** The repository's address, without credentials and without a slash at its end. */
  base: URL;
  /** Null for nobody's. */
  credentials: Credentials | null;
  /** Whether a 403 refuses a push, or reading. */
  pushing: boolean;
  signal: AbortSignal;
  connect: (to: URL) => Promise<HttpClient>;
}

export interface PostOptions {
  body: Uint8Array | AsyncIterable<Uint8Array>;
  type: string;
  /** The content type asked for. */
  answer: string;
  encoding?: string;
  /** As git's `Git-Protocol` header has it; version 0 where left out. */
  protocol?: string;
}

/** Some hosts serve git only to who says to be git. */
const userAgent = 'git/2.40 (git-mesh)';
/** What is read of an answer that is not wanted, so that its connection can be used again. */
const maxDiscarded = 64 * 1024;

/** The requests of one exchange with one repository: who we are, and where redirects led. Every answer it gives is 200. */
export class HttpSession {
  readonly #options: HttpSessionOptions;
  #base: URL;
  #client: HttpClient | null = null;
  #closed = false;
  /** All that went out, to keep the server from repeating any of it. */
  readonly #sent: Credential[] = [];
  readonly #tried: Credential[] = [];
  #candidates: AsyncGenerator<Credential, void, undefined> | null = null;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.#base = options.base;
  }

  async get(suffix: string, { protocol }: { protocol?: string } = {}): Promise<HttpResponse> {
    for (let redirects = 0; ; redirects++) {
      const asked = address(this.#base, suffix);
      const response = await this.#identified({
        method: 'GET',
        url: asked,
        headers: { accept: '*/*', ...version(protocol) },
      });
      if (!isRedirect(response.status)) return this.#expectOk(response);
      await discard(response);
      if (redirects === maxRedirects) {
        throw new MeshError('protocol_error', `the remote redirects more than ${maxRedirects} times`);
      }
      const to = redirectedBase(asked, response.headers.location, suffix);
      if (to.protocol !== this.#base.protocol) await this.#disconnect();
      this.#base = to;
    }
  }

  /** To where the GET led. A POST is redirected nowhere: what it does must be done once, and by that server. */
  async post(suffix: string, { body, type, answer, encoding, protocol }: PostOptions): Promise<HttpResponse> {
    const headers = {
      'content-type': type,
      accept: answer,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...version(protocol),
    };
    const url = address(this.#base, suffix);
    const response = await this.#identified({ method: 'POST', url, headers, body });
    if (isRedirect(response.status)) {
      response.drop();
      throw new MeshError('protocol_error', 'the remote redirects a request elsewhere, which is not followed');
    }
    return this.#expectOk(response);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#candidates?.return();
    await this.#disconnect();
  }

  /** Asks with what was taken before, else as nobody; where that is refused, with each credential there is. */
  async #identified(request: HttpRequest): Promise<HttpResponse> {
    const { credentials, signal } = this.#options;
    for (let credential = credentials?.known ?? null; ;) {
      if (credential !== null && !this.#sent.includes(credential)) this.#sent.push(credential);
      const response = await this.#request(request, credential);
      if (response.status !== 401) {
        if (credential !== null && response.status === 200) await credentials?.accepted(credential);
        return response;
      }
      if (credential !== null) {
        this.#tried.push(credential);
        await credentials?.refused(credential);
      }
      const repeatable = request.body === undefined || request.body instanceof Uint8Array;
      if (credentials === null || !repeatable || !offersBasic(response)) return response;
      this.#candidates ??= credentials.candidates(signal);
      const next = await this.#next(this.#candidates);
      if (next === null) return response;
      await discard(response);
      credential = next;
    }
  }

  /** The next one that was not refused already. */
  async #next(candidates: AsyncGenerator<Credential, void, undefined>): Promise<Credential | null> {
    for (;;) {
      const step = await candidates.next();
      if (step.done === true) return null;
      const { username, password } = step.value;
      if (!this.#tried.some((tried) => tried.username === username && tried.password === password)) return step.value;
    }
  }

  async #request(request: HttpRequest, credential: Credential | null): Promise<HttpResponse> {
    const client = await this.#connected();
    const headers = {
      'user-agent': userAgent,
      'accept-encoding': 'gzip',
      'cache-control': 'no-cache',
      pragma: 'no-cache',
      ...request.headers,
      ...(credential === null ? {} : { authorization: basicAuthorization(credential) }),
    };
    return client.request({ ...request, headers });
  }

  async #connected(): Promise<HttpClient> {
    this.#client ??= await this.#options.connect(this.#base);
    if (!this.#closed) return this.#client;
    await this.#disconnect();
    throw this.#options.signal.aborted
      ? new MeshError('deadline', 'the remote did not answer in the time given to it')
      : new MeshError('unreachable', 'the exchange with the remote was ended');
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.close();
  }

  async #expectOk(response: HttpResponse): Promise<HttpResponse> {
    if (response.status === 200) return response;
    const secrets = this.#sent.flatMap((each) => [each.password, basicAuthorization(each).slice('Basic '.length)]);
    const tried = [...new Set(this.#tried.map(({ source }) => source))];
    const scheme = response.headers['www-authenticate'];
    const error = await statusError(response, { secrets, tried, pushing: this.#options.pushing, now: Date.now() });
    response.drop();
    if (response.status !== 401 || offersBasic(response)) throw error;
    throw new MeshError(
      'auth_failed',
      `the remote takes no user and password or token, only ${(scheme ?? '').split(/[\s,]/)[0] ?? ''} (401)`,
      { data: error.data },
    );
  }
}

function address(base: URL, suffix: string): URL {
  return new URL(`${base.href.replace(/\/$/, '')}${suffix}`);
}

function version(protocol: string | undefined): Record<string, string> {
  return protocol === undefined ? {} : { 'git-protocol': protocol };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** A server that says nothing of how it wants to be asked is taken to mean Basic. */
function offersBasic({ headers }: HttpResponse): boolean {
  const offered = headers['www-authenticate'];
  return offered === undefined || /(?:^|,)\s*basic(?:[\s,]|$)/i.test(offered);
}

async function discard(response: HttpResponse): Promise<void> {
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > maxDiscarded) break;
  }
}
