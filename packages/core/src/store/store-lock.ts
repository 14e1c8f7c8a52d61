import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../errors.js';
import type { Fs } from './fs.js';
import { ownIdentity, provenDead } from './identity.js';
import { claimPath, publishLock, readLock, removeLock } from './lock-file.js';
import type { Holder, LockState } from './lock-file.js';
import type { ProcessIdentity } from './ports.js';

const defaultTimeoutMs = 15_000;
/** A lock that names no one may be one that is being written by a program we do not know: it gets this long. */
const unnamedAfterMs = 10 * 60_000;
/** How often the start time of one and the same holder is asked for again: on some platforms that starts a process. */
const proofEveryMs = 1_000;
/** Claims on claims: each level takes a process that was killed within a moment. */
const maxClaims = 5;

/**
 * The one lock under which refs move and the journal grows. A holder that is alive, even paused, is waited for; one that
 * is proven dead is replaced. Within one process waiters queue in their order and one of them contends with others.
 */
export class StoreLock {
  readonly #fs: Fs;
  readonly #path: string;
  readonly #held = new AsyncLocalStorage<{ active: boolean }>();
  #identity: Promise<ProcessIdentity> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #proof: { nonce: string; at: number } | undefined;

  constructor(fs: Fs, path: string) {
    this.#fs = fs;
    this.#path = path;
  }

  /**
   * @throws MeshError `locked` when it was not free within `timeoutMs`; Error when called inside of itself, which would
   * wait for ever.
   */
  async run<T>(work: () => Promise<T>, options: { timeoutMs?: number } = {}): Promise<T> {
    if (this.#held.getStore()?.active === true) throw new Error('the store lock was asked for by its own holder');
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
        await this.#release(nonce);
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
    if (first === 'late') throw locked(await readLock(this.#fs, this.#path));
  }

  async #acquire(deadline: number): Promise<string> {
    this.#identity ??= ownIdentity();
    const identity = await this.#identity;
    for (;;) {
      const nonce = await this.#tryPath(this.#path, identity, 0);
      if (nonce !== null) return nonce;
      if (Date.now() >= deadline) throw locked(await readLock(this.#fs, this.#path));
      await sleep(5 + Math.random() * 20);
    }
  }

  /** One attempt, with a takeover where the holder is dead. Null when someone holds it. */
  async #tryPath(path: string, identity: ProcessIdentity, depth: number): Promise<string | null> {
    const state = await readLock(this.#fs, path);
    if (state.kind !== 'free' && !(await this.#takeOver(path, state, { identity, depth }))) return null;
    const nonce = randomBytes(12).toString('hex');
    const holder: Holder = { identity, nonce, since: Date.now() };
    return (await publishLock(this.#fs, path, holder)) ? nonce : null;
  }

  /** Removes a dead holder's lock. True when it is gone. */
  async #takeOver(
    path: string,
    state: Exclude<LockState, { kind: 'free' }>,
    { identity, depth }: { identity: ProcessIdentity; depth: number },
  ): Promise<boolean> {
    if (depth >= maxClaims || !(await this.#isAbandoned(state))) return false;
    const dead = idOf(state);
    const claim = claimPath(path, dead);
    const nonce = await this.#tryPath(claim, identity, depth + 1);
    if (nonce === null) return false;
    try {
      // Do not reorder: only with the claim in hand is it certain that no one replaces the lock after this look.
      const now = await readLock(this.#fs, path);
      if (now.kind !== 'free' && idOf(now) === dead) await removeLock(this.#fs, path);
      return now.kind === 'free' || idOf(now) === dead;
    } finally {
      await this.#releaseAt(claim, nonce);
    }
  }

  async #isAbandoned(state: Exclude<LockState, { kind: 'free' }>): Promise<boolean> {
    if (state.kind === 'unnamed') return Date.now() - state.mtimeMs > unnamedAfterMs;
    const { nonce, identity } = state.holder;
    const asked = this.#proof;
    if (process.platform !== 'linux' && asked?.nonce === nonce && Date.now() - asked.at < proofEveryMs) return false;
    const dead = await provenDead(identity);
    if (!dead) this.#proof = { nonce, at: Date.now() };
    return dead;
  }

  async #release(nonce: string): Promise<void> {
    await this.#releaseAt(this.#path, nonce);
  }

  /** Leaves alone a lock that is someone else's: a person may have removed ours by hand. */
  async #releaseAt(path: string, nonce: string): Promise<void> {
    const state = await readLock(this.#fs, path);
    if (state.kind === 'held' && state.holder.nonce === nonce) await removeLock(this.#fs, path);
  }
}

/** Removes claims that killed processes left; they bind no one any more. Gives their number. */
export async function sweepClaims(fs: Fs, folder: string): Promise<number> {
  let removed = 0;
  for (const name of await fs.list(folder)) {
    if (!name.includes('.takeover.')) continue;
    const path = join(folder, name);
    const state = await readLock(fs, path);
    if (state.kind !== 'held' || !(await provenDead(state.holder.identity))) continue;
    await removeLock(fs, path);
    removed += 1;
  }
  return removed;
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

const idOf = (state: Exclude<LockState, { kind: 'free' }>): string =>
  state.kind === 'held' ? state.holder.nonce : state.id;

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
      : `the store is locked by a ${basename('mesh/lock')} file that names no process: it is taken over once it is 10 minutes old; ${wait} then`,
  );
}
