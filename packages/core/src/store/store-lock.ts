import { AsyncLocalStorage } from 'node:async_hooks';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../errors.js';
import type { Fs } from './fs.js';
import { HolderLocks } from './holder-locks.js';
import type { LockState } from './lock-file.js';
import { LockTurns } from './lock-turns.js';
import type { Turn } from './lock-turns.js';

/** How long a command waits for another process that holds the store, before 423. */
const defaultTimeoutMs = 15_000;
const lookEveryMs = 500;
/** Whoever looks every half second and sees more gone was stopped in between. */
const longestLookMs = 1_000;

/** A lock whose work the asking code is part of. */
interface Holding {
  lock: StoreLock;
  active: boolean;
  /** What holds the lock of another store around it. */
  outer: Holding | undefined;
}

/** One for all locks: each that was ever run slows every promise of the process, for as long as it lives. */
const held = new AsyncLocalStorage<Holding>();

function nearestActive(): Holding | undefined {
  let one = held.getStore();
  while (one?.active === false) one = one.outer;
  return one;
}

/**
 * The one lock under which refs move and the journal grows. A holder that is alive, even paused, is waited for; one that
 * is proven dead is replaced. Within one process waiters queue in their order and one of them contends with others, who give
 * way to it in turn ({@link LockTurns}).
 */
export class StoreLock {
  readonly #locks: HolderLocks;
  readonly #path: string;
  readonly #turns: LockTurns;
  #last: Promise<unknown> = Promise.resolve();

  constructor(fs: Fs, path: string) {
    this.#locks = new HolderLocks(fs, dirname(path));
    this.#path = path;
    this.#turns = new LockTurns(fs, path);
  }

  /** Whether the code that asks runs under it. */
  get isHeldHere(): boolean {
    for (let one = nearestActive(); one !== undefined; one = one.outer) if (one.lock === this) return one.active;
    return false;
  }

  /**
   * @throws MeshError `locked` when it was not free within `timeoutMs`; Error when called inside of itself, which would
   * wait for ever.
   */
  async run<T>(work: () => Promise<T>, options: { timeoutMs?: number } = {}): Promise<T> {
    if (this.isHeldHere) throw new Error('the store lock was asked for by its own holder');
    const patience = new Patience(options.timeoutMs ?? defaultTimeoutMs);
    const before = this.#last;
    let leave: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (leave = resolve));
    this.#last = before.then(() => turn);
    try {
      await this.#queue(before, patience);
      const contending = this.#turns.begin();
      const nonce = await this.#acquire(contending, patience);
      const holding: Holding = { lock: this, active: true, outer: nearestActive() };
      try {
        await contending.end();
        return await held.run(holding, work);
      } finally {
        // What the work left running in the background holds nothing any more.
        holding.active = false;
        await this.#locks.release(this.#path, nonce);
      }
    } finally {
      leave();
    }
  }

  async #queue(before: Promise<unknown>, patience: Patience): Promise<void> {
    const ours = before.then(() => true);
    for (;;) {
      const late = new AbortController();
      const step = sleep(patience.step(lookEveryMs), false, { signal: late.signal }).catch(() => false);
      const isOurs = await Promise.race([ours, step]);
      late.abort();
      if (isOurs) return;
      if (patience.isOver()) throw locked(await this.#locks.state(this.#path));
    }
  }

  async #acquire(turn: Turn, patience: Patience): Promise<string> {
    try {
      for (;;) {
        const isLast = patience.isOver();
        const nonce = isLast || (await turn.isOurs()) ? await this.#locks.tryAcquire(this.#path) : null;
        if (nonce !== null) return nonce;
        if (isLast) throw locked(await this.#locks.state(this.#path));
        await sleep(await turn.wait());
      }
    } catch (error) {
      await turn.end();
      throw error;
    }
  }
}

/**
 * How long to wait, in milliseconds in which this process ran: one that was stopped (or slept with its machine) has waited
 * for nobody meanwhile. No wall clock, which may be set.
 */
class Patience {
  #leftMs: number;
  #lookedAt: number = performance.now();

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** At most this long until the next look. */
  step(longestMs: number): number {
    return Math.max(0, Math.min(longestMs, this.#leftMs));
  }

  isOver(): boolean {
    const now = performance.now();
    this.#leftMs -= Math.min(now - this.#lookedAt, longestLookMs);
    this.#lookedAt = now;
    return this.#leftMs <= 0;
  }
}

/** Runs `work` under the lock of the store at `dir`; see {@link StoreLock.run}. */
export async function withStoreLock<T>(
  fs: Fs,
  dir: string,
  work: () => Promise<T>,
  options: { timeoutMs?: number } = {},
): Promise<T> {
  return new StoreLock(fs, lockPath(dir)).run(work, options);
}

export function lockPath(dir: string): string {
  return join(dir, 'mesh', 'lock');
}

function locked(state: LockState): MeshError {
  const wait = 'try again';
  if (state.kind === 'held') {
    const { identity, since } = state.holder;
    const at = new Date(since).toISOString();
    return new MeshError(
      'locked',
      `the store is locked by process ${identity.pid} since ${at}: nothing was stored; ${wait}, and look at that process if it stays so (one that is stopped keeps the lock; one in another container cannot be checked: remove mesh/lock only when it has ended)`,
      { data: { pid: identity.pid, since: at } },
    );
  }
  return new MeshError(
    'locked',
    state.kind === 'free'
      ? `the store was locked by others all the while: nothing was stored; ${wait}`
      : `the store is locked by a file mesh/lock that names no process: it is taken over once it is 10 minutes old; ${wait} then`,
  );
}
