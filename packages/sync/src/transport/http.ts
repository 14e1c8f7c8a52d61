import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { SecureContext } from 'node:tls';
import { MeshError } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import { Credentials } from './credentials.js';
import { readAdvertisement } from './advertisement.js';
import { HttpClient } from './http-client.js';
import { checkContentType } from './http-errors.js';
import { HttpSession } from './http-session.js';
import type { HttpSettings } from './http-settings.js';
import { httpSettings } from './http-settings.js';
import { lsRefsRequest, readLsRefs, speaksLsRefs } from './ls-refs.js';
import { PacketReader, packetText } from './pkt-line.js';
import type { Advertisement, Exchange, Service, Transport } from './port.js';
import { proxyFor } from './proxy.js';
import { tlsTrust } from './tls-trust.js';

export interface HttpTransportOptions {
  /** http:// or https://, with user and password or without. Never shown. */
  url: string;
  /** The caller's environment: GIT_MESH_TOKEN, GIT_MESH_USERNAME, GIT_SSL_CAINFO, HTTPS_PROXY and the like. */
  env: Env;
  /** How long a server may show no sign of life. Well under the 25 s in which a round names a remote that hangs. */
  idleMs?: number;
  /** No credential is looked up or sent, as somebody without any would ask. */
  anonymous?: boolean;
}

const defaultIdleMs = 15_000;
/** As git does it: a few wants and haves are sent as they are. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);

/** A repository behind smart http, protocol v0: one GET for the advertisement, one POST for a request. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const url = new URL(options.url);
  const credentials = options.anonymous === true ? null : new Credentials(url, options.env);
  const base = plainBase(url);
  const ways = new Ways(options.env);
  const begin = (service: Service, signal: AbortSignal): HttpSession => {
    if (signal.aborted) throw new MeshError('deadline', 'the time was over before the remote was asked');
    return new HttpSession({
      base,
      credentials,
      pushing: service === 'git-receive-pack',
      signal,
      connect: async (to) =>
        new HttpClient({ signal, idleMs: options.idleMs ?? defaultIdleMs, ...(await ways.to(to, signal)) }),
    });
  };
  /** Null before the server was asked. */
  let hasLsRefs: boolean | null = null;
  return {
    watchable: null,
    open: async (service, { signal }) => HttpExchange.open(service, begin(service, signal)),
    async refs(prefix, { signal }) {
      if (hasLsRefs === false) return null;
      const session = begin('git-upload-pack', signal);
      try {
        hasLsRefs ??= await asksForLsRefs(session);
        return hasLsRefs ? await lsRefs(session, prefix) : null;
      } catch (error) {
        // One that answers in another way than it said is asked as every git server can be.
        if (!(error instanceof MeshError) || error.errorName !== 'protocol_error') throw error;
        hasLsRefs = false;
        return null;
      } finally {
        await session.close();
      }
    },
  };
}

const protocol2 = 'version=2';

async function asksForLsRefs(session: HttpSession): Promise<boolean> {
  const response = await session.get('/info/refs?service=git-upload-pack', { protocol: protocol2 });
  checkContentType(response.headers, 'application/x-git-upload-pack-advertisement');
  const packets = new PacketReader(response.body);
  const speaks = await speaksLsRefs(packets);
  // To the end, so that the connection can carry the request.
  if (speaks) await packets.next();
  return speaks;
}

async function lsRefs(session: HttpSession, prefix: string): Promise<ReadonlyMap<RefName, Oid>> {
  const response = await session.post('/git-upload-pack', {
    type: 'application/x-git-upload-pack-request',
    answer: 'application/x-git-upload-pack-result',
    body: lsRefsRequest(prefix),
    protocol: protocol2,
  });
  checkContentType(response.headers, 'application/x-git-upload-pack-result');
  const packets = new PacketReader(response.body);
  const refs = await readLsRefs(packets, prefix);
  if ((await packets.next()) !== null) throw new MeshError('protocol_error', 'the remote sent more after its refs');
  return refs;
}

/**
 * Whether anybody at all may read the repository: an advertisement is given without credentials. What one would send
 * there would be public.
 *
 * @throws MeshError as {@link Transport.open} does, where neither yes nor no is known.
 */
export async function readableByEveryone(url: string, options: { env: Env; signal: AbortSignal }): Promise<boolean> {
  const transport = httpTransport({ url, env: options.env, anonymous: true });
  try {
    const exchange = await transport.open('git-upload-pack', { signal: options.signal });
    await exchange.close();
    return true;
  } catch (error) {
    // Hosts hide what is private behind either.
    if (!(error instanceof MeshError)) throw error;
    if (error.errorName === 'auth_failed' && error.data['http_status'] !== 407) return false;
    if (error.errorName === 'remote_not_found') return false;
    throw error;
  }
}

/** Proxy and authorities by the scheme of the remote; read once. */
class Ways {
  readonly #env: Env;
  #settings: HttpSettings | null = null;
  #trust: SecureContext | null = null;

  constructor(env: Env) {
    this.#env = env;
  }

  async to(url: URL, signal: AbortSignal): Promise<{ proxy: URL | null; trust: SecureContext | null }> {
    const env = this.#env;
    const settings = (this.#settings ??= await httpSettings({ url: url.href, env, signal }));
    const secure = url.protocol === 'https:';
    if (secure) this.#trust ??= await tlsTrust({ env, caFile: settings.caFile });
    return { proxy: proxyFor(url, { env, configured: settings.proxy }), trust: secure ? this.#trust : null };
  }
}

class HttpExchange implements Exchange {
  readonly advertised: Advertisement;
  readonly #service: Service;
  readonly #session: HttpSession;
  #posted = false;

  private constructor(service: Service, session: HttpSession, advertised: Advertisement) {
    this.#service = service;
    this.#session = session;
    this.advertised = advertised;
  }

  static async open(service: Service, session: HttpSession): Promise<HttpExchange> {
    try {
      const response = await session.get(`/info/refs?service=${service}`);
      checkContentType(response.headers, `application/x-${service}-advertisement`);
      const packets = new PacketReader(response.body);
      await readServiceLine(packets, service);
      const advertised = await readAdvertisement(packets);
      // To the end, so that the connection can carry the request.
      if ((await packets.next()) !== null) {
        throw new MeshError('protocol_error', 'the remote sent more after what it advertised');
      }
      return new HttpExchange(service, session, advertised);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async *post(body: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#posted) throw new Error('an exchange carries one request');
    this.#posted = true;
    const service = this.#service;
    try {
      const small = service === 'git-upload-pack' && body instanceof Uint8Array && body.length >= gzipFromBytes;
      const response = await this.#session.post(`/${service}`, {
        type: `application/x-${service}-request`,
        answer: `application/x-${service}-result`,
        // A pack is compressed already.
        ...(small ? { body: await compress(body), encoding: 'gzip' } : { body }),
      });
      checkContentType(response.headers, `application/x-${service}-result`);
      yield* response.body;
    } finally {
      await this.#session.close();
    }
  }

  async close(): Promise<void> {
    this.#posted = true;
    await this.#session.close();
  }
}

async function readServiceLine(packets: PacketReader, service: Service): Promise<void> {
  const first = await packets.next();
  if (first === null) throw new MeshError('protocol_error', 'the remote sent an empty answer');
  const second =
    first.kind === 'data' && packetText(first.data) === `# service=${service}` ? await packets.next() : null;
  if (second?.kind !== 'flush') {
    throw new MeshError('protocol_error', `the remote does not begin as a git server does (# service=${service})`);
  }
}

/** Without credentials and trailing slashes, so that a path can be put behind it. */
function plainBase(url: URL): URL {
  const base = new URL(url.href);
  base.username = '';
  base.password = '';
  base.hash = '';
  base.search = '';
  base.pathname = base.pathname.replace(/\/+$/, '');
  return base;
}
