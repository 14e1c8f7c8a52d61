import { AsyncLocalStorage } from 'node:async_hooks';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../errors.js';
import type { Fs } from './fs.js';
import { HolderLocks } from './holder-locks.js';
import type { LockState } from './lock-file.js';

/** How long a command waits for another process that holds the store, before 423. */
const defaultTimeoutMs = 15_000;
/**
 * The one lock under which refs move and the journal grows. A holder that is alive, even paused, is waited for; one that
 * is proven dead is replaced. Within one process waiters queue in their order and one of them contends with others.
 */
export class StoreLock {
  readonly #locks: HolderLocks;
  readonly #path: string;
  readonly #held = new AsyncLocalStorage<{ active: boolean }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(fs: Fs, path: string) {
    this.#locks = new HolderLocks(fs, dirname(path));
    this.#path = path;
  }

  /** Whether the code that asks runs under it. */
  get isHeldHere(): boolean {
    return this.#held.getStore()?.active === true;
  }

  /**
   * @throws MeshError `locked` when it was not free within `timeoutMs`; Error when called inside of itself, which would
   * wait for ever.
   */
  async run<T>(work: () => Promise<T>, options: { timeoutMs?: number } = {}): Promise<T> {
    if (this.isHeldHere) throw new Error('the store lock was asked for by its own holder');
    const deadline = Date.now() + (options.timeoutMs ?? defaultTimeoutMs);
    const before = this.#last;
    let leave: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (leave = resolve));
    this.#last = before.then(() => turn);
    try {
      await this.#queue(before, deadline);
      const nonce = await this.#acquire(deadline);
      const holding = { active: true };
      try {
        return await this.#held.run(holding, work);
      } finally {
        // What the work left running in the background holds nothing any more.
        holding.active = false;
        await this.#locks.release(this.#path, nonce);
      }
    } finally {
      leave();
    }
  }

  async #queue(before: Promise<unknown>, deadline: number): Promise<void> {
    const late = new AbortController();
    const timer = sleep(Math.max(0, deadline - Date.now()), 'late', { signal: late.signal }).catch(() => 'late');
    const first = await Promise.race([before.then(() => 'ours'), timer]);
    late.abort();
    if (first === 'late') throw locked(await this.#locks.state(this.#path));
  }

  async #acquire(deadline: number): Promise<string> {
    for (;;) {
      const nonce = await this.#locks.tryAcquire(this.#path);
      if (nonce !== null) return nonce;
      if (Date.now() >= deadline) throw locked(await this.#locks.state(this.#path));
      await sleep(5 + Math.random() * 20);
    }
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
