import { join } from 'node:path';
import { housekeeping } from '@git-mesh/core';
import type { Logger, MeshContext } from '@git-mesh/core';
import { pollDelay } from './backoff.js';
import { electWorker } from './election.js';
import type { Election } from './election.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { roundLimitMs } from './round.js';
import type { RoundOptions } from './round.js';
import { sweepLeftovers } from './sweep-leftovers.js';
import { watchPaths } from './watch.js';
import type { PathWatch } from './watch.js';

/** How often a worker looks, without any network, whether presence must be renewed. */
const housekeepingMs = 5_000;

export interface WorkerOptions {
  mesh: MeshContext;
  remotes: readonly Remote[];
  run: (options: RoundOptions) => Promise<void>;
  logger: Logger;
}

/**
 * The store's worker, for as long as this process is elected: a round when the store's branch moves, when a local
 * remote's refs move, and else by polling, which slows down while nothing happens.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #stopped = new AbortController();
  #election: Election | null = null;
  #watches: PathWatch[] = [];
  #wake: (() => void) | null = null;
  #dirty = true;
  #loop: Promise<void> | null = null;
  #elected = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#election !== null || this.#stopped.signal.aborted) return;
    this.#election = electWorker({
      dir: this.#options.mesh.store.dir,
      logger: this.#options.logger,
      onElected: () => {
        this.#begin();
      },
      onLost: () => {
        this.#end();
      },
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#end();
    await this.#loop;
    await this.#election?.stop();
  }

  #begin(): void {
    if (this.#elected) return;
    this.#elected = true;
    this.#dirty = true;
    const { mesh, remotes, logger } = this.#options;
    const { dir, config } = mesh.store;
    const paths = [join(dir, ...config.ref_prefix.split('/').filter((part) => part !== ''))];
    for (const { transport } of remotes) {
      if (transport.watchable === null) continue;
      paths.push(join(transport.watchable, ...config.ref_prefix.split('/').filter((part) => part !== '')));
      paths.push(join(transport.watchable, 'packed-refs'));
    }
    const onChange = (): void => {
      this.#dirty = true;
      this.#wake?.();
    };
    this.#watches = [watchPaths({ paths, onChange, logger })];
    const before = this.#loop ?? Promise.resolve();
    this.#loop = before.then(() => this.#work());
  }

  #end(): void {
    this.#elected = false;
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
    this.#wake?.();
  }

  async #work(): Promise<void> {
    const { mesh, logger } = this.#options;
    await sweepLeftovers(mesh.store, logger);
    let poll: number | null = null;
    let lastState = '';
    let lastActivityAt: number | null = mesh.clock.now();
    while (this.#elected && !this.#stopped.signal.aborted) {
      this.#dirty = false;
      try {
        await this.#options.run({
          deadlineMs: roundLimitMs,
          ignoreBackoff: false,
          signal: this.#stopped.signal,
        });
      } catch (error) {
        // A full disk or a held store must not end the worker: it tries again, as long as it is there.
        logger.warn(`sync round failed: ${plainMessage(error)}`);
      }
      const state = await this.#state();
      if (state !== lastState) lastActivityAt = mesh.clock.now();
      lastState = state;
      const now = mesh.clock.now();
      poll = pollDelay({ lastActivityAt, now, previous: poll });
      await this.#idle(poll);
    }
  }

  /** Until something moves, or for `ms`. Presence may have to be renewed long before the next poll of a quiet mesh. */
  async #idle(ms: number): Promise<void> {
    // A clock that nobody can set: one that was put back must not put off the next round.
    const until = performance.now() + ms;
    while (this.#isIdle() && performance.now() < until) {
      await this.#sleep(Math.min(housekeepingMs, until - performance.now()));
      await this.#renew();
    }
  }

  /** A method, since each may change during any await, which the compiler would not believe of fields. */
  #isIdle(): boolean {
    return this.#elected && !this.#dirty;
  }

  async #renew(): Promise<void> {
    try {
      await housekeeping(this.#options.mesh);
    } catch (error) {
      this.#options.logger.warn(`housekeeping failed: ${plainMessage(error)}`);
    }
  }

  /** What moves when something happens: the tips. */
  async #state(): Promise<string> {
    try {
      const branches = await this.#options.mesh.branches.all();
      return branches.map(({ tip }) => tip).join();
    } catch (error) {
      this.#options.logger.debug(`the branches cannot be read: ${plainMessage(error)}`);
      return '';
    }
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
