import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toIso } from '@git-mesh/core';
import type { Logger } from '@git-mesh/core';
import { plainMessage } from './redact.js';
import { readClaim, removeClaim, workerFile, workerStaleMs, workerUpdateMs, writeClaim } from './worker-file.js';
import { WorkerLockRepair } from './worker-lock-repair.js';

export { readWorker } from './worker-file.js';
export type { WorkerInfo } from './worker-file.js';

export interface Election {
  /** True while this process is the store's worker. */
  alive(): boolean;
  /** Gives the office up or stops running for it; `onLost` is not called. Never throws, safe to call twice. */
  stop(): Promise<void>;
}

export interface ElectionOptions {
  /** The store's folder; its `mesh/` must exist. */
  dir: string;
  /** Called each time this process becomes the worker. */
  onElected: () => void;
  /** Called when the office was lost (the process was held up, the lock was taken away); it may come back. */
  onLost: () => void;
  logger: Logger;
}

/** With the jitter, a dead worker's lock (stale after 3 s) is tried again within a second. */
const shortestTryMs = 600;
const longestTryMs = 1_000;
/**
 * proper-lockfile lets several waiters take a stale lock within one moment. Each then signs, waits for this long, and
 * only the last to have signed is elected.
 */
const settleMs = 150;

/**
 * Runs for the worker's office of the store at `dir` until stopped. For a moment two processes may both believe to hold it (one
 * that was suspended for longer than the lock lives): what the worker does must be harmless when done twice.
 * Keeps no process alive, and never throws.
 */
export function electWorker(options: ElectionOptions): Election {
  const candidate = new Candidate(options);
  candidate.run();
  return {
    alive: () => candidate.elected,
    stop: () => candidate.stop(),
  };
}

class Candidate {
  elected = false;
  readonly #options: ElectionOptions;
  readonly #repair: WorkerLockRepair;
  readonly #token = randomBytes(12).toString('hex');
  readonly #stopping = new AbortController();
  /** Set while proper-lockfile renews the lock for us. */
  #release: (() => Promise<void>) | null = null;
  #running: Promise<void> = Promise.resolve();
  #lastFailure = '';

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#repair = new WorkerLockRepair(options.dir);
  }

  run(): void {
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.elected = false;
    await this.#quietly(async () => {
      await removeClaim(this.#options.dir, this.#token);
      // Always, even where another has signed since: a lock kept fresh by one who left would block for ever, while one
      // removed under its holder is taken again within a second or two.
      await this.#release?.();
    });
    this.#release = null;
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (!this.elected) await this.#quietly(() => this.#stand());
      await this.#pause(shortestTryMs + Math.random() * (longestTryMs - shortestTryMs));
    }
  }

  async #stand(): Promise<void> {
    if (this.#release === null && !(await this.#takeLock())) return;
    const { dir, onElected } = this.#options;
    await writeClaim(dir, { pid: process.pid, since: toIso(Date.now()), token: this.#token });
    await this.#pause(settleMs);
    const claim = await readClaim(dir);
    if (this.#stopping.signal.aborted || !this.#holdsLock() || claim?.token !== this.#token) return;
    this.elected = true;
    this.#lastFailure = '';
    onElected();
  }

  /** A method, since the lock may be lost during any await, which the compiler would not believe of a field. */
  #holdsLock(): boolean {
    return this.#release !== null;
  }

  async #takeLock(): Promise<boolean> {
    // Loaded here, since commands read who the worker is without ever running for it.
    const { default: lockfile } = await import('proper-lockfile');
    try {
      this.#release = await lockfile.lock(workerFile(this.#options.dir), {
        realpath: false,
        retries: 0,
        stale: workerStaleMs,
        update: workerUpdateMs,
        onCompromised: () => {
          this.#lost();
        },
      });
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if ('code' in error && error.code === 'ELOCKED') await this.#repair.whenHeld();
      else await this.#repair.whenStuck(error);
      return false;
    }
  }

  #lost(): void {
    this.#release = null;
    const wasElected = this.elected;
    this.elected = false;
    if (!wasElected || this.#stopping.signal.aborted) return;
    void this.#quietly(async () => {
      this.#options.onLost();
      await removeClaim(this.#options.dir, this.#token);
    });
  }

  /** Resolves early when stopped. */
  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { ref: false, signal: this.#stopping.signal });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
  }

  /** A full disk, a folder that is gone: told once, tried again. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = plainMessage(error);
      if (message !== this.#lastFailure) this.#options.logger.warn(`running for the worker failed: ${message}`);
      this.#lastFailure = message;
    }
  }
}
