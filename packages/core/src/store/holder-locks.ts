import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Fs } from './fs.js';
import { ownIdentity, provenDead } from './identity.js';
import { publishLock, readLock, removeLock } from './lock-file.js';
import type { LockState } from './lock-file.js';
import type { ProcessIdentity } from './ports.js';

/** A lock that names no one may be one that another program is about to fill, or git's own: it gets this long. */
export const unnamedAfterMs: number = 10 * 60_000;
/** One of a time to come was left before the clock was set back: it would be young for ever. */
const aheadAfterMs = 60 * 60_000;
/** How often the start time of one and the same holder is asked for again: on some platforms that starts a process. */
const proofEveryMs = 1_000;
/** Claims on claims: each level takes a process that was killed within a moment. */
const maxClaims = 5;

type Taken = Exclude<LockState, { kind: 'free' }>;

/**
 * Lock files that name their holder. Each is taken over only with proof that the holder is dead, or when it names no one
 * and is older than 10 minutes. `folder` is where temporary files and claims are kept.
 */
export class HolderLocks {
  readonly #fs: Fs;
  readonly #folder: string;
  #identity: Promise<ProcessIdentity> | undefined;
  /** `at` as `performance.now()` tells. */
  #proof: { nonce: string; at: number } | undefined;

  constructor(fs: Fs, folder: string) {
    this.#fs = fs;
    this.#folder = folder;
  }

  /** One attempt. Gives what {@link HolderLocks.release} needs; null when another one holds it. */
  async tryAcquire(path: string): Promise<string | null> {
    return this.#try(path, 0);
  }

  /** Leaves alone a lock that is someone else's: a person may have removed ours by hand. */
  async release(path: string, nonce: string): Promise<void> {
    const state = await readLock(this.#fs, path);
    if (state.kind === 'held' && state.holder.nonce === nonce) await removeLock(this.#fs, path, this.#folder);
  }

  async state(path: string): Promise<LockState> {
    return readLock(this.#fs, path);
  }

  #own(): Promise<ProcessIdentity> {
    this.#identity ??= ownIdentity();
    return this.#identity;
  }

  async #try(path: string, depth: number): Promise<string | null> {
    const state = await readLock(this.#fs, path);
    if (state.kind !== 'free' && !(await this.#takeOver(path, state, depth))) return null;
    const holder = { identity: await this.#own(), nonce: randomBytes(12).toString('hex'), since: Date.now() };
    return (await publishLock(this.#fs, path, { holder, temporaries: this.#folder })) ? holder.nonce : null;
  }

  /** Removes a dead holder's lock. True when it is gone. */
  async #takeOver(path: string, state: Taken, depth: number): Promise<boolean> {
    if (depth >= maxClaims || !(await this.#isAbandoned(state))) return false;
    const dead = idOf(state);
    const claim = join(this.#folder, `takeover.${dead}`);
    const nonce = await this.#try(claim, depth + 1);
    if (nonce === null) return false;
    try {
      // Do not reorder: only with the claim in hand is it certain that no one replaces the lock after this look.
      const now = await readLock(this.#fs, path);
      const unchanged = now.kind !== 'free' && idOf(now) === dead;
      if (unchanged) await removeLock(this.#fs, path, this.#folder);
      return unchanged || now.kind === 'free';
    } finally {
      await this.release(claim, nonce);
    }
  }

  async #isAbandoned(state: Taken): Promise<boolean> {
    if (state.kind === 'unnamed') {
      const age = Date.now() - state.mtimeMs;
      return age > unnamedAfterMs || age < -aheadAfterMs;
    }
    const { nonce, identity } = state.holder;
    const asked = this.#proof;
    if (process.platform !== 'linux' && asked?.nonce === nonce && performance.now() - asked.at < proofEveryMs)
      return false;
    const dead = await provenDead(identity, await this.#own());
    if (!dead) this.#proof = { nonce, at: performance.now() };
    return dead;
  }
}

/** Removes claims that killed processes left; they bind no one any more. Gives their number. */
export async function sweepClaims(fs: Fs, folder: string): Promise<number> {
  let removed = 0;
  for (const name of await fs.list(folder)) {
    if (!name.startsWith('takeover.')) continue;
    const path = join(folder, name);
    const state = await readLock(fs, path);
    if (state.kind !== 'held' || !(await provenDead(state.holder.identity))) continue;
    await removeLock(fs, path, folder);
    removed += 1;
  }
  return removed;
}

const idOf = (state: Taken): string => (state.kind === 'held' ? state.holder.nonce : state.id);
