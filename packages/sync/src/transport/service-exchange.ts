import { once } from 'node:events';
import { MeshError } from '@git-mesh/core';
import { readAdvertisement } from './advertisement.js';
import { redact } from '../redact.js';
import { flushPacket, PacketReader } from './pkt-line.js';
import type { Advertisement, Exchange } from './port.js';
import type { Command, ProcessEnd, ServiceProcess } from './service-process.js';
import { startService } from './service-process.js';

/** A program that speaks as git-upload-pack or git-receive-pack does, and how its failures are told. */
export interface ServiceCommand extends Command {
  /** What a message calls the other side, as in a host's name. */
  where: string;
  /** The error for a process that could not be started or ended badly, and not by the deadline. */
  explain(failure: ServiceFailure): MeshError | Promise<MeshError>;
  /** Looks at what it answers before packets are read from it, and passes it on. */
  inspect?(answer: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

export interface ServiceFailure {
  end: ProcessEnd;
  /** The last of what it wrote to stderr, raw. */
  words: string;
  /** How the failure looked from here; null where only the end of the process tells of it. */
  cause: unknown;
}

/**
 * How long a `git receive-pack` that is given up gets to refuse a cut request, or to end with a whole one, which takes it
 * a tenth of a second, and more on a busy machine. Asked to end by a signal it leaves what it was given in
 * `objects/tmp_objdir…` (git since 2.39).
 */
export const receiveFinishMs = 1_200;
/** How long a service that was told that nothing follows may take to end before it is killed. */
const politeEndMs = 2_000;
/** How long the status of a service that broke off its answer is waited for: it tells why. */
const failedEndMs = 1_000;

/**
 * Starts the one process of an exchange, which spans the advertisement and the request so that both see the same refs,
 * and reads what it advertises.
 *
 * @throws MeshError `deadline` when the signal fired, else what `explain` makes of the failure, or `protocol_error`.
 */
export async function openServiceExchange(command: ServiceCommand, signal: AbortSignal): Promise<Exchange> {
  refuseAborted(signal);
  const session = new Session(command, signal);
  const packets = new PacketReader(session.output());
  try {
    const exchange = new ServiceExchange(session, packets, await readAdvertisement(packets));
    // Nothing but a flush is how an older git tells of an empty repository. It is only believed when it ends well.
    if (exchange.advertised.capabilities.size === 0) {
      await exchange.close();
      await session.endedWell();
    }
    return exchange;
  } catch (error) {
    throw await session.failed(error);
  }
}

/** @throws MeshError `deadline` once the signal fired. */
export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new MeshError('deadline', 'the time that was given to the remote is over');
}

class ServiceExchange implements Exchange {
  readonly advertised: Advertisement;
  readonly #session: Session;
  readonly #packets: PacketReader;
  #posted = false;

  constructor(session: Session, packets: PacketReader, advertised: Advertisement) {
    this.#session = session;
    this.#packets = packets;
    this.advertised = advertised;
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

  async close(): Promise<void> {
    if (this.#posted) {
      await this.#session.kill();
      return;
    }
    this.#posted = true;
    await this.#session.endPolitely(this.#packets.rest());
  }
}

/** The service's process, and what went wrong with it in words. */
class Session {
  readonly #command: ServiceCommand;
  readonly #signal: AbortSignal;
  readonly #process: ServiceProcess;
  #step = 'connecting, or waiting for its list of branches';
  /** What the caller's body threw while it was sent. */
  bodyError: unknown = undefined;
  readonly #onAbort = (): void => {
    this.#process.kill();
  };

  constructor(command: ServiceCommand, signal: AbortSignal) {
    this.#command = command;
    this.#signal = signal;
    this.#process = startService(command);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    void this.#process.ended.then(() => {
      signal.removeEventListener('abort', this.#onAbort);
    });
  }

  /** Its stdout. A process that ended badly is an error here, whatever it had written. */
  async *output(): AsyncGenerator<Uint8Array, void, undefined> {
    const stdout: AsyncIterable<Uint8Array> = this.#process.stdout;
    const answer = this.#command.inspect?.(stdout) ?? stdout;
    try {
      for await (const chunk of answer) yield chunk;
    } catch (error) {
      // A destroyed stream (killed by the deadline or by close()), or an answer that is none.
      throw await this.failed(error);
    }
    if (this.#signal.aborted) throw this.#deadline();
  }

  async send(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<void> {
    const { stdin } = this.#process;
    this.#step = 'taking what was sent, or answering it';
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

  /** With the step it was in and the last it said: what asks for a password waits like this. */
  #deadline(): MeshError {
    const said = redact(this.#process.stderr().trim().split('\n').at(-1) ?? '', { maxLength: 200 });
    const words = said === '' ? '' : `; the last it said: ${said}`;
    return new MeshError('deadline', `${this.#command.where} was given up while ${this.#step}${words}`);
  }

  async endedWell(): Promise<void> {
    const end = await this.#process.ended;
    if (end.status !== 0 || this.#signal.aborted) throw await this.#reason(end, null);
  }

  /** The error to tell for `error`: what the process itself says goes before what its end looked like from outside. */
  async failed(error: unknown): Promise<unknown> {
    if (error instanceof MeshError && error.errorName !== 'protocol_error') {
      await this.kill();
      return error;
    }
    const end = await this.#endWithin(failedEndMs);
    await this.kill();
    if (this.#signal.aborted) return this.#deadline();
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

  async #reason(end: ProcessEnd, cause: unknown): Promise<MeshError> {
    if (this.#signal.aborted) return this.#deadline();
    return this.#command.explain({ end, words: this.#process.stderr(), cause });
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
