import { randomBytes } from 'node:crypto';
import { rename, rm, utimes } from 'node:fs/promises';
import { lockTime, workerLock, workerStaleMs } from './worker-file.js';

/**
 * Frees a worker lock that would else block for ever: one dated in the future (the clock was set back, or the disk is
 * another machine's) never counts as stale, and one with a stray file in it cannot be removed.
 */
export class WorkerLockRepair {
  readonly #dir: string;
  #seen: { mtime: number; at: number } | null = null;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * To be called whenever the lock is found held. A live holder renews it each second, so a date in the future that did
   * not change for the stale time by our own monotonic clock is a dead one's. @throws Error of the file system.
   */
  async whenHeld(): Promise<void> {
    const mtime = await lockTime(this.#dir);
    if (mtime === null || mtime <= Date.now()) {
      this.#seen = null;
      return;
    }
    const at = performance.now();
    if (this.#seen?.mtime !== mtime) {
      this.#seen = { mtime, at };
      return;
    }
    if (at - this.#seen.at < workerStaleMs) return;
    this.#seen = null;
    await utimes(workerLock(this.#dir), 0, 0);
  }

  /**
   * To be called when taking the lock failed with `cause`: puts aside a stale lock that cannot be removed.
   * @throws `cause` where the lock is not what is in the way, and Error of the file system.
   */
  async whenStuck(cause: Error): Promise<void> {
    const mtime = await lockTime(this.#dir);
    if (mtime === null) throw cause;
    if (mtime > Date.now() - workerStaleMs) return;
    // Moved first: removing a folder with files in it is not one step, and others contend for the name.
    const aside = `${workerLock(this.#dir)}.${randomBytes(6).toString('hex')}.stray`;
    await rename(workerLock(this.#dir), aside);
    await rm(aside, { recursive: true, force: true });
  }
}
