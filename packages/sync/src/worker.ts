import { join } from 'node:path';
import { MeshError, housekeeping, steadyNow } from '@git-mesh/core';
import type { Logger, MeshContext } from '@git-mesh/core';
import { electWorker } from './election.js';
import type { Election } from './election.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { RemotePoll } from './remote-poll.js';
import type { RemoteTurns } from './remote-poll.js';
import { sweepLeftovers } from './sweep-leftovers.js';
import { watchPaths } from './watch.js';
import type { PathWatch } from './watch.js';

/** How often a worker looks, without any network, whether presence must be renewed. */
const housekeepingMs = 5_000;
/** How often it looks for loose objects and packs to join: each commit and fetch joins its own kind of packs anyway. */
const maintenanceMs = 10 * 60_000;

/** An agent_inbox call waits no longer. */
const longestWaitMs = 45_000;

/** What a worker needs of the rounds. */
export interface WorkerRounds extends RemoteTurns {
  readonly remotes: readonly Remote[];
  refresh(): Promise<boolean>;
  prepare(): Promise<void>;
}

export interface WorkerOptions {
  mesh: MeshContext;
  rounds: WorkerRounds;
  logger: Logger;
}

/**
 * The store's worker, for as long as this process is elected: what is due here, and a {@link RemotePoll} for each remote
 * that the configuration names, as it is now.
 */
export class Worker {
  readonly #options: WorkerOptions;
  #election: Election | null = null;
  /** While elected. */
  #office: Office | null = null;
  /** Ended ones, until their last exchange has. */
  #before: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#election !== null || this.#stopped) return;
    this.#election = electWorker({
      dir: this.#options.mesh.store.dir,
      logger: this.#options.logger,
      onElected: () => {
        if (this.#office === null && !this.#stopped) this.#office = new Office(this.#options);
      },
      onLost: () => {
        this.#leave();
      },
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#leave();
    await this.#before;
    await this.#election?.stop();
  }

  #leave(): void {
    const office = this.#office;
    this.#office = null;
    if (office === null) return;
    const before = this.#before;
    this.#before = Promise.all([before, office.end()]).then(() => undefined);
  }
}

/** The worker's work from its election to its end. */
class Office {
  readonly #options: WorkerOptions;
  readonly #watch: PathWatch;
  readonly #calls: PathWatch;
  readonly #timer: NodeJS.Timeout;
  readonly #polls = new Map<string, RemotePoll>();
  readonly #endings = new Set<Promise<void>>();
  /** As {@link steadyNow} tells. */
  #lastActivityAt: number;
  /** Likewise; an agent waits until then. */
  #waitingUntil = Number.NEGATIVE_INFINITY;
  #tips = '';
  readonly #ending = new AbortController();
  #looking: Promise<void> | null = null;
  #lookAgain = false;
  #due: Promise<void>;
  /** As {@link steadyNow} tells. */
  #maintainAt: number;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { mesh, logger } = options;
    const { dir, config } = mesh.store;
    this.#lastActivityAt = steadyNow(mesh.clock);
    // Not at once: a process that only passes by has no time for it.
    this.#maintainAt = this.#lastActivityAt + housekeepingMs;
    const prefix = config.ref_prefix.split('/').filter((part) => part !== '');
    this.#watch = watchPaths({
      paths: [join(dir, ...prefix), join(dir, 'mesh', 'config.json')],
      onChange: () => {
        this.#look();
      },
      logger,
    });
    // Whoever calls, of whichever process, is there to hear: above all one that waits for messages.
    this.#calls = watchPaths({
      paths: [join(dir, 'mesh', 'activity'), join(dir, 'mesh', 'waiting')],
      onChange: () => {
        this.#lastActivityAt = steadyNow(mesh.clock);
        void this.#attempt('a look at who waits', () => this.#noteWait());
      },
      logger,
    });
    this.#timer = setInterval(() => {
      this.#keepHouse();
    }, housekeepingMs).unref();
    this.#due = sweepLeftovers(mesh.store, logger).then(() =>
      this.#attempt('a look at what is due', () => this.#options.rounds.prepare()),
    );
    this.#look();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#watch.close();
    this.#calls.close();
    clearInterval(this.#timer);
    while (this.#looking !== null) await this.#looking;
    await this.#due;
    await Promise.all([...this.#polls.values()].map((poll) => poll.end()));
    await Promise.all(this.#endings);
  }

  /**
   * Numbers for arrivals are an exchange's to give where there is one: it takes what it brought together, and states one
   * receipt for it.
   */
  #keepHouse(): void {
    const { mesh, rounds } = this.#options;
    const work = rounds.remotes.length === 0 ? () => rounds.prepare() : () => housekeeping(mesh);
    this.#due = this.#due
      .then(() => this.#attempt('housekeeping', work))
      .then(() => this.#attempt('maintenance', () => this.#maintain()));
  }

  /** One bounded step a look, for as long as there is more to do. */
  async #maintain(): Promise<void> {
    const { clock, store } = this.#options.mesh;
    if (this.#ending.signal.aborted || steadyNow(clock) < this.#maintainAt) return;
    // First: what fails is tried again in ten minutes.
    this.#maintainAt = steadyNow(clock) + maintenanceMs;
    try {
      if (await store.maintain({ whole: false, signal: this.#ending.signal })) this.#maintainAt = 0;
    } catch (error) {
      // It keeps no state: the next worker begins the step anew.
      if (error === this.#ending.signal.reason) return;
      // Nothing is wrong with the store: only its turn did not come.
      if (error instanceof MeshError && error.errorName === 'locked') this.#maintainAt = 0;
      throw error;
    }
  }

  /** The store's branches or its configuration may have moved. */
  #look(): void {
    if (this.#looking !== null) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = this.#lookOver().finally(() => {
      this.#looking = null;
    });
  }

  async #lookOver(): Promise<void> {
    const { rounds } = this.#options;
    do {
      this.#lookAgain = false;
      await rounds.refresh();
      this.#takeRemotes();
      await this.#attempt('a look at the branches', () => this.#noteActivity());
      await Promise.all([...this.#polls.values()].map((poll) => poll.moved()));
    } while (this.#mustLookAgain());
  }

  /** A method, since it may change during any await, which the compiler would not believe of a field. */
  #mustLookAgain(): boolean {
    return this.#lookAgain && !this.#ending.signal.aborted;
  }

  #takeRemotes(): void {
    const { mesh, rounds, logger } = this.#options;
    if (this.#ending.signal.aborted) return;
    const { remotes } = rounds;
    for (const [name, poll] of this.#polls) {
      if (remotes.includes(poll.remote)) continue;
      this.#polls.delete(name);
      const ending = poll.end().finally(() => this.#endings.delete(ending));
      this.#endings.add(ending);
    }
    for (const remote of remotes) {
      if (this.#polls.has(remote.name)) continue;
      const lastActivityAt = (): number => this.#lastActivityAt;
      const waitingUntil = (): number => this.#waitingUntil;
      const options = { mesh, remote, turns: rounds, lastActivityAt, waitingUntil, logger };
      this.#polls.set(remote.name, new RemotePoll(options));
    }
  }

  /** Whoever waits says for how long; a clock that is set meanwhile makes it no longer than the longest wait. */
  async #noteWait(): Promise<void> {
    const { clock, store } = this.#options.mesh;
    const left = ((await store.local.waitingUntil()) ?? 0) - clock.now();
    this.#waitingUntil = steadyNow(clock) + Math.min(left, longestWaitMs);
    for (const poll of this.#polls.values()) poll.stir();
  }

  /** What moves when something happens: the tips. */
  async #noteActivity(): Promise<void> {
    const { mesh } = this.#options;
    const tips = (await mesh.branches.all()).map(({ tip }) => tip).join();
    if (tips !== this.#tips) this.#lastActivityAt = steadyNow(mesh.clock);
    this.#tips = tips;
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // A full disk or a held store must not end the worker: it tries again, as long as it is there.
      this.#options.logger.warn(`${what} failed: ${plainMessage(error)}`);
    }
  }
}
