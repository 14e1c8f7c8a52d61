import { dirname, join } from 'node:path';
import type { Fs } from './fs.js';
import { HolderLocks } from './holder-locks.js';
import { readLock } from './lock-file.js';

/** Whoever comes while others wait for less than this goes first as often as last: two commits need no order. */
const queueAfterMs = 100;
/** A free lock that the next in turn leaves alone for so long is not kept for it: its process is stopped, or was killed. */
const keptFreeMs = 200;
/** One long pause of this process is no such time. */
const leastLooks = 5;
/** Nobody waits for a lock so long: what is older was left by a process that cannot be proven dead from here. */
const forgottenAfterMs = 60_000;

/** Who is next at the lock of the store at `dir`, while somebody waits for it. */
export function nextPath(dir: string): string {
  return join(dir, 'mesh', 'next.lock');
}

/**
 * Gives each that waits for a lock its turn: one that releases it and takes it again without a pause would else keep all
 * others out, who look only now and then. One of those that wait is the next, by a file that names it, and whoever comes
 * leaves a free lock to it. This is courtesy and no lock: who may hold the lock is decided by the lock's own file alone, and
 * where the next does not take its turn, the others go on without it.
 */
export class LockTurns {
  readonly #fs: Fs;
  readonly #lock: string;
  readonly #next: string;
  readonly #locks: HolderLocks;
  /** The one that left a free lock alone. */
  #absent: string | null = null;

  constructor(fs: Fs, lock: string) {
    this.#fs = fs;
    this.#lock = lock;
    const folder = dirname(lock);
    this.#next = nextPath(dirname(folder));
    this.#locks = new HolderLocks(fs, folder);
  }

  begin(): Turn {
    return new Turn({
      isNextAnother: () => this.#isNextAnother(),
      become: () => this.#locks.tryAcquire(this.#next),
      leave: (nonce) => this.#locks.release(this.#next, nonce),
      isFree: async () => (await readLock(this.#fs, this.#lock)).kind === 'free',
      forget: (nonce) => {
        this.#absent = nonce;
      },
    });
  }

  async #isNextAnother(): Promise<string | null> {
    const state = await readLock(this.#fs, this.#next);
    if (state.kind !== 'held' || state.holder.nonce === this.#absent) return null;
    // A clock that was set back makes one of a time to come.
    return Math.abs(Date.now() - state.holder.since) > forgottenAfterMs ? null : state.holder.nonce;
  }
}

interface TurnPorts {
  /** The one that is next; null where there is none to wait for. */
  isNextAnother: () => Promise<string | null>;
  become: () => Promise<string | null>;
  leave: (nonce: string) => Promise<void>;
  isFree: () => Promise<boolean>;
  forget: (nonce: string) => void;
}

/** One wait for the lock. */
export class Turn {
  readonly #ports: TurnPorts;
  readonly #cameAt: number = performance.now();
  #nonce: string | null = null;
  /** Since when and how often a free lock is seen to be left alone, and by whom. */
  #left: { by: string; at: number; looks: number } | null = null;

  constructor(ports: TurnPorts) {
    this.#ports = ports;
  }

  /** Whether to try for the lock now. */
  async isOurs(): Promise<boolean> {
    if (this.#nonce !== null) return true;
    const next = await this.#ports.isNextAnother();
    // One that is held is tried for too: its holder may be dead, and the next one stopped.
    if (next === null || !(await this.#ports.isFree())) {
      this.#left = null;
      return true;
    }
    if (this.#left?.by !== next) this.#left = { by: next, at: performance.now(), looks: 0 };
    this.#left.looks += 1;
    if (this.#left.looks < leastLooks || performance.now() - this.#left.at < keptFreeMs) return false;
    // One that was killed is replaced; one that is only stopped is left where it is.
    this.#nonce = await this.#ports.become();
    if (this.#nonce === null) this.#ports.forget(next);
    return true;
  }

  /** Milliseconds until the next look. Whoever has waited for a while becomes the next, where nobody is. */
  async wait(): Promise<number> {
    if (this.#nonce === null && performance.now() - this.#cameAt >= queueAfterMs) {
      this.#nonce = await this.#ports.become();
    }
    return this.#nonce === null ? 5 + Math.random() * 20 : 1 + Math.random() * 3;
  }

  /** To be called once the lock is held, or is waited for no more. */
  async end(): Promise<void> {
    const nonce = this.#nonce;
    this.#nonce = null;
    if (nonce !== null) await this.#ports.leave(nonce);
  }
}
