import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../errors.js';
import { discard, writeTemporary } from './durable-fs.js';
import type { Fs } from './fs.js';
import { HolderLocks } from './holder-locks.js';

const waitMs = 2_000;

/**
 * git's own lock on a file, `<path>.lock`: whoever makes it may replace the file. Ours names its holder, so that one
 * which a killed process left is passed at once; git's names no one, and is removed once it is 10 minutes old.
 */
export class RefLock {
  readonly #fs: Fs;
  readonly #temporaries: string;
  readonly #locks: HolderLocks;

  /** `temporaries` is outside of `refs`, where git takes any file for a ref. */
  constructor(fs: Fs, temporaries: string) {
    this.#fs = fs;
    this.#temporaries = temporaries;
    this.#locks = new HolderLocks(fs, temporaries);
  }

  /**
   * Runs `change` with the lock. Its `publish` replaces the file at `path`, atomically and durably; when it is not
   * called, or fails, the file stays as it was.
   * @throws MeshError `locked` when another process holds the lock for over 2 s.
   */
  async run(path: string, change: (publish: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
    const lock = `${path}.lock`;
    const nonce = await this.#acquire(lock);
    try {
      await change((text) => this.#publish(path, text));
    } finally {
      await this.#locks.release(lock, nonce);
    }
  }

  async #publish(path: string, text: string): Promise<void> {
    const temporary = await writeTemporary(this.#fs, this.#temporaries, Buffer.from(text), { sync: true });
    try {
      await this.#fs.rename(temporary, path);
    } catch (error) {
      await discard(this.#fs, temporary);
      throw error;
    }
    await this.#fs.syncFolder(dirname(path));
  }

  async #acquire(lock: string): Promise<string> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const nonce = await this.#locks.tryAcquire(lock);
      if (nonce !== null) return nonce;
      if (performance.now() > deadline) {
        throw new MeshError(
          'locked',
          `${basename(lock)} is held by another process (a git command in the store?): nothing was changed, try again. If no git runs there, one that was killed left it: it is removed once it is 10 minutes old`,
        );
      }
      await sleep(10 + Math.random() * 30);
    }
  }
}
