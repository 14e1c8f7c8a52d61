import { join } from 'node:path';
import { steadyNow } from '@git-mesh/core';
import type { EpochMillis, Logger, MeshContext } from '@git-mesh/core';
import { pollDelay } from './backoff.js';
import { roundLimitMs } from './exchange.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { watchPaths } from './watch.js';
import type { PathWatch } from './watch.js';

/** What a worker does with one remote. */
export interface RemoteTurns {
  pass(remote: Remote, options: { deadlineMs: number; ignoreBackoff: boolean }): Promise<void>;
  /** Whether the last exchange left work that it had no time for: the next one follows at once. */
  isUnfinished(remote: Remote): boolean;
  lacksOwnTip(remote: Remote): Promise<boolean>;
  /** For a remote that is watched: false where its branches stand as they were last seen, or as we left them. */
  movedThere(remote: Remote): Promise<boolean>;
  carryAt(remote: Remote): Promise<EpochMillis | null>;
}

export interface RemotePollOptions {
  mesh: MeshContext;
  remote: Remote;
  turns: RemoteTurns;
  /** When a branch last moved here, by whichever way, or an agent here last called; as `steadyNow` tells. */
  lastActivityAt: () => number;
  /** Until when an agent here waits for messages; likewise. */
  waitingUntil: () => number;
  logger: Logger;
}

/**
 * A worker's life with one remote: an exchange at once, then when a local remote's refs move, when there is something to
 * bring there, and else by polling, which slows down while nothing happens. Waits for no other remote.
 */
export class RemotePoll {
  readonly #options: RemotePollOptions;
  readonly #done: Promise<void>;
  #watch: PathWatch | null;
  #ended = false;
  /** An exchange is wanted now. */
  #asked = true;
  /** The files of a local remote changed; looked into once our own exchange, which may be why, has ended. */
  #stirred = false;
  #wake: (() => void) | null = null;

  constructor(options: RemotePollOptions) {
    this.#options = options;
    this.#watch = this.#watchRemote();
    this.#done = this.#work();
  }

  get remote(): Remote {
    return this.#options.remote;
  }

  /** Branches of this store moved: what is to be pushed goes out now, what is to be carried gets its time. */
  async moved(): Promise<void> {
    const { turns, remote, logger } = this.#options;
    try {
      if (await turns.lacksOwnTip(remote)) this.#asked = true;
    } catch (error) {
      // A full disk or a held store must not end the worker: the next poll tries again.
      logger.warn(`remote ${remote.name}: ${plainMessage(error)}`);
    }
    this.#wake?.();
  }

  /** There was activity: a long pause that was begun before it is cut to what it now is. */
  stir(): void {
    this.#wake?.();
  }

  /** Resolves when the exchange that is under way has ended. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#watch?.close();
    this.#watch = null;
    this.#wake?.();
    await this.#done;
  }

  #watchRemote(): PathWatch | null {
    const { mesh, remote, logger } = this.#options;
    const { watchable } = remote.transport;
    if (watchable === null) return null;
    const prefix = mesh.store.config.ref_prefix.split('/').filter((part) => part !== '');
    return watchPaths({
      paths: [join(watchable, ...prefix), join(watchable, 'packed-refs')],
      onChange: () => {
        this.#stirred = true;
        this.#wake?.();
      },
      logger,
    });
  }

  /** Whether a local remote stirred by another's doing: what we pushed ourselves moves it too, and needs no look. */
  async #movedThere(): Promise<boolean> {
    const { turns, remote, logger } = this.#options;
    if (!this.#stirred) return false;
    this.#stirred = false;
    try {
      return await turns.movedThere(remote);
    } catch (error) {
      logger.debug(`remote ${remote.name}: ${plainMessage(error)}`);
      return true;
    }
  }

  async #work(): Promise<void> {
    const { remote, turns, logger } = this.#options;
    let poll: number | null = null;
    while (!this.#isEnded()) {
      this.#asked = false;
      const began = performance.now();
      try {
        await turns.pass(remote, { deadlineMs: roundLimitMs, ignoreBackoff: false });
      } catch (error) {
        logger.warn(`sync round with ${remote.name} failed: ${plainMessage(error)}`);
      }
      if (turns.isUnfinished(remote)) continue;
      poll = await this.#idle({ began, previous: poll });
    }
  }

  /** Until something is asked for or due to be carried, or the remote is due to be polled. Gives the pause chosen. */
  async #idle({ began, previous }: { began: number; previous: number | null }): Promise<number> {
    const { mesh, lastActivityAt, remote } = this.#options;
    // A clock that nobody can set: one that was put back must not put off the next exchange.
    const ended = performance.now();
    // One that is watched tells by itself.
    const waiting = (): number | null => (remote.transport.watchable === null ? this.#options.waitingUntil() : null);
    const due = (): number =>
      pollDelay({
        lastActivityAt: lastActivityAt(),
        now: steadyNow(mesh.clock),
        previous,
        waitingUntil: waiting(),
        tookMs: ended - began,
      });
    let poll = due();
    for (;;) {
      // Activity shortens a pause; that it is over in the middle of one makes it no longer.
      poll = Math.min(poll, due());
      // From the beginning of one exchange to that of the next, so that a slow line is not heard less; but a line on
      // which one takes long is left alone for a while too.
      const left = Math.max(began + poll, ended + poll / 2) - performance.now();
      if (this.#isEnded() || this.#isAsked() || left <= 0 || (await this.#movedThere())) return poll;
      const carry = await this.#untilCarry();
      if (carry <= 0 || this.#isEnded() || this.#isAsked()) return poll;
      if (this.#stirred) continue;
      await this.#sleep(Math.min(left, carry));
    }
  }

  async #untilCarry(): Promise<number> {
    const { mesh, remote, turns, logger } = this.#options;
    try {
      const at = await turns.carryAt(remote);
      return at === null ? Number.POSITIVE_INFINITY : at - mesh.clock.now();
    } catch (error) {
      logger.debug(`remote ${remote.name}: ${plainMessage(error)}`);
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Methods, since each may change during any await, which the compiler would not believe of fields. */
  #isEnded(): boolean {
    return this.#ended;
  }

  #isAsked(): boolean {
    return this.#asked;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.max(0, ms));
      timer.unref();
      this.#wake = done;
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
    });
  }
}
