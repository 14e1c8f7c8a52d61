import { once } from 'node:events';
import { isAbsolute } from 'node:path';
import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import { gitEnv, gitSafeArgs } from '../git-env.js';
import { redact } from '../redact.js';
import { readAdvertisement } from './advertisement.js';
import type { GitProcess, ProcessEnd } from './git-process.js';
import { startGit } from './git-process.js';
import { checkBareRepository } from './local-repository.js';
import { flushPacket, PacketReader } from './pkt-line.js';
import type { Advertisement, Exchange, Service, Transport } from './port.js';

export interface LocalTransportOptions {
  /** The bare repository's folder, absolute. */
  path: string;
  /** The caller's environment; cleaned by {@link gitEnv} before git sees it. */
  env: Env;
  /** The file of {@link writeGitConfig}; without one no safe.directory of the user's holds. */
  globalConfig?: string | undefined;
}

/** How long a service that was told that nothing follows may take to end before it is killed. */
const politeEndMs = 2_000;
/** How long the status of a service that broke off its answer is waited for: it tells why. */
const failedEndMs = 1_000;

/**
 * A bare repository on a disk or share: one `git upload-pack` or `git receive-pack` a exchange, which spans the
 * advertisement and the request, so that both see the same refs.
 */
export function localTransport(options: LocalTransportOptions): Transport {
  const { path, globalConfig } = options;
  if (!isAbsolute(path)) throw new MeshError('invalid_argument', "the remote's path is not absolute");
  const env = gitEnv(options.env, { globalConfig });
  return {
    watchable: path,
    async open(service, { signal }) {
      refuseAborted(signal);
      await checkBareRepository(path);
      refuseAborted(signal);
      return LocalExchange.open({ service, path, env, signal });
    },
  };
}

class LocalExchange implements Exchange {
  readonly advertised: Advertisement;
  readonly #session: Session;
  readonly #packets: PacketReader;
  #posted = false;

  private constructor(session: Session, packets: PacketReader, advertised: Advertisement) {
    this.#session = session;
    this.#packets = packets;
    this.advertised = advertised;
  }

  static async open(options: SessionOptions): Promise<LocalExchange> {
    const session = new Session(options);
    const packets = new PacketReader(session.output());
    try {
      const exchange = new LocalExchange(session, packets, await readAdvertisement(packets));
      // Nothing but a flush is how an older git tells of an empty repository. It is only believed when it ends well.
      if (exchange.advertised.capabilities.size === 0) await exchange.#endWell();
      return exchange;
    } catch (error) {
      throw await session.failed(error);
    }
  }

  async *post(body: AsyncIterable<Uint8Array> | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#posted) throw new Error('an exchange carries one request');
    this.#posted = true;
    const session = this.#session;
    try {
      // Sent while the answer is read: a service that answers early would else block, and we with it.
      const sent = session.send(body);
      yield* this.#packets.rest();
      await sent;
      await session.endedWell();
    } catch (error) {
      throw session.bodyError ?? error;
    } finally {
      await session.kill();
    }
  }

  async #endWell(): Promise<void> {
    await this.close();
    await this.#session.endedWell();
  }

  async close(): Promise<void> {
    if (this.#posted) {
      await this.#session.kill();
      return;
    }
    this.#posted = true;
    await this.#session.endPolitely(this.#packets.rest());
  }
}

interface SessionOptions {
  service: Service;
  path: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** The service's process, and what went wrong with it in words. */
class Session {
  readonly #options: SessionOptions;
  readonly #process: GitProcess;
  /** What the caller's body threw while it was sent. */
  bodyError: unknown = undefined;
  readonly #onAbort = (): void => {
    this.#process.kill();
  };

  constructor(options: SessionOptions) {
    this.#options = options;
    const command = options.service === 'git-upload-pack' ? ['upload-pack', '--strict'] : ['receive-pack'];
    this.#process = startGit([...gitSafeArgs, ...command, '--', options.path], options.env);
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    void this.#process.ended.then(() => {
      options.signal.removeEventListener('abort', this.#onAbort);
    });
  }

  /** Its stdout. A process that ended badly is an error here, whatever it had written. */
  async *output(): AsyncGenerator<Uint8Array, void, undefined> {
    const stdout = this.#process.stdout;
    try {
      for await (const chunk of stdout as AsyncIterable<Uint8Array>) yield chunk;
    } catch (error) {
      // A destroyed stream: killed by the deadline or by close().
      throw await this.failed(error);
    }
    refuseAborted(this.#options.signal);
  }

  async send(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<void> {
    const { stdin } = this.#process;
    const parts = body instanceof Uint8Array ? [body] : body;
    try {
      for await (const part of parts) {
        if (stdin.destroyed) return;
        if (!stdin.write(part)) await Promise.race([once(stdin, 'drain'), this.#process.ended]);
      }
      stdin.end();
    } catch (error) {
      // Of the caller's body: a request that is not whole must not be taken for one. The answer fails with it.
      this.bodyError = error;
      this.#process.kill();
    }
  }

  async endedWell(): Promise<void> {
    const end = await this.#process.ended;
    if (end.status !== 0 || this.#options.signal.aborted) throw this.#reason(end, null);
  }

  /** The error to tell for `error`: what the process itself says goes before what its end looked like from outside. */
  async failed(error: unknown): Promise<unknown> {
    if (error instanceof MeshError && error.errorName !== 'protocol_error') {
      await this.kill();
      return error;
    }
    const end = await this.#endWithin(failedEndMs);
    await this.kill();
    if (this.#options.signal.aborted) return deadline();
    if (end === null || (end.status === 0 && error instanceof MeshError)) return error;
    return this.#reason(end, error);
  }

  /** Says that no request follows, and lets the service end. `rest` is what it may still send. */
  async endPolitely(rest: AsyncIterable<Uint8Array>): Promise<void> {
    this.#process.stdin.end(flushPacket);
    const drained = drain(rest);
    if ((await this.#endWithin(politeEndMs)) === null) await this.kill();
    await drained;
  }

  async kill(): Promise<void> {
    this.#process.kill();
    await this.#process.ended;
  }

  async #endWithin(limitMs: number): Promise<ProcessEnd | null> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, limitMs, null);
    });
    const end = await Promise.race([this.#process.ended, limit]);
    clearTimeout(timer);
    return end;
  }

  #reason(end: ProcessEnd, cause: unknown): MeshError {
    const { service, path, signal } = this.#options;
    const because = cause === null ? {} : { cause };
    if (signal.aborted) return deadline();
    if (end.startError !== null) return notStarted(end.startError);
    const words = this.#process.stderr();
    // Named in every language, since it is the setting's name.
    if (words.includes('safe.directory')) {
      return new MeshError(
        'auth_failed',
        "git refuses the remote because its folder belongs to another user. If you trust it: git config --global --add safe.directory PATH (PATH is the remote's path)",
        because,
      );
    }
    const how = end.status === null ? `was ended by ${String(end.signal)}` : `ended with status ${end.status}`;
    const said = redact(words.replaceAll(path, 'the remote'));
    return new MeshError('protocol_error', `${service} ${how}${said === '' ? '' : `: ${said}`}`, because);
  }
}

async function drain(rest: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _chunk of rest) continue;
  } catch (error) {
    // Nothing was asked, so how it ended no longer matters.
    if (!(error instanceof MeshError)) throw error;
  }
}

function notStarted(error: NodeJS.ErrnoException): MeshError {
  const message =
    error.code === 'ENOENT'
      ? 'git is not installed, or not on PATH: a remote on a disk or share needs it (https://git-scm.com/downloads)'
      : `git could not be started (${error.code ?? 'unknown reason'})`;
  return new MeshError('unreachable', message, { cause: error });
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw deadline();
}

function deadline(): MeshError {
  return new MeshError('deadline', 'the remote did not answer in the time given to it');
}
