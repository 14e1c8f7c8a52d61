import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Logger } from '@git-mesh/core';
import { plainMessage } from './redact.js';

export interface PathWatch {
  /** Once it resolves, no change is missed: one that is made later is told of. */
  readonly ready: Promise<void>;
  /** Safe to call twice. No call of `onChange` begins after it. */
  close(): void;
}

export interface WatchOptions {
  /** Folders (whose entries are watched, not those below) or files; each may be missing, come and go. Entries that end in `.lock` or `.tmp` are no change. */
  paths: readonly string[];
  /** Called about 10 ms after the first of a burst of changes. May be called without one. Errors in it are logged. */
  onChange: () => void;
  logger: Logger;
}

const debounceMs = 10;
/** What the system's notifications miss (network shares, a folder made anew, exhausted watches) is seen by this. */
const pollMs = 1_000;

/** Watches `paths` until closed, and keeps no process alive. Never throws: where watching fails it polls. */
export function watchPaths(options: WatchOptions): PathWatch {
  const watcher = new PathWatcher(options);
  return {
    ready: watcher.start(),
    close: () => {
      watcher.close();
    },
  };
}

interface Watched {
  path: string;
  /** Identity, time and size as last seen; null where it was missing. */
  seen: string | null;
}

class PathWatcher {
  readonly #options: WatchOptions;
  readonly #watched: Watched[];
  /** One for each folder that is a path or holds one. */
  readonly #folders = new Map<string, { identity: string; watcher: FSWatcher }>();
  #due: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #checking = false;
  #checkAgain = false;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#watched = options.paths.map((path) => ({ path: resolve(path), seen: null }));
  }

  start(): Promise<void> {
    this.#poll = setInterval(() => void this.#check(), pollMs).unref();
    return this.#check({ first: true });
  }

  close(): void {
    this.#closed = true;
    if (this.#due !== null) clearTimeout(this.#due);
    if (this.#poll !== null) clearInterval(this.#poll);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** Renews the watches of folders that were made anew, then compares what is there with what was seen last. */
  async #check({ first = false } = {}): Promise<void> {
    let silent = first;
    if (this.#checking) {
      this.#checkAgain = true;
      return;
    }
    this.#checking = true;
    try {
      do {
        this.#checkAgain = false;
        // Watches before the comparison: a change between the two is then seen by one of them.
        for (const folder of this.#foldersToWatch()) await this.#watchFolder(folder);
        for (const each of this.#watched) {
          const now = await fingerprint(each.path);
          if (now === each.seen) continue;
          each.seen = now;
          if (!silent) this.#changed();
        }
        silent = false;
        // A method's call may set it while we wait.
      } while (this.#mustCheckAgain());
    } finally {
      this.#checking = false;
    }
  }

  #mustCheckAgain(): boolean {
    return this.#checkAgain && !this.#closed;
  }

  /** A file is replaced by renaming, which only its folder's watch sees; so is a folder that is removed and made anew. */
  #foldersToWatch(): Set<string> {
    return new Set(this.#watched.flatMap(({ path }) => [path, dirname(path)]));
  }

  async #watchFolder(folder: string): Promise<void> {
    const identity = await folderIdentity(folder);
    const known = this.#folders.get(folder);
    if (known?.identity === identity || this.#closed) return;
    known?.watcher.close();
    this.#folders.delete(folder);
    if (identity === null) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        this.#noticed(folder, name);
      });
      watcher.on('error', (error) => {
        this.#options.logger.debug(`a watch ended, polling instead: ${plainMessage(error)}`);
        watcher.close();
        // Forgotten, so that the next poll tries again.
        if (this.#folders.get(folder)?.watcher === watcher) this.#folders.delete(folder);
      });
      this.#folders.set(folder, { identity, watcher });
    } catch (error) {
      // No watches left, or a file system without them: the poll does the work and tries again.
      this.#options.logger.debug(`cannot watch, polling instead: ${plainMessage(error)}`);
    }
  }

  #noticed(folder: string, name: string | null): void {
    // Locks and temporary files announce a change; the renaming that makes it names its target.
    if (this.#closed || /\.(?:lock|tmp)$/.test(name ?? '')) return;
    const isWatched = (path: string): boolean => this.#watched.some((each) => each.path === path);
    if (isWatched(folder)) this.#changed();
    else if (name !== null && !isWatched(resolve(folder, name)) && name !== basename(folder)) return;
    void this.#check();
  }

  /** The first change of a burst sets the time: putting it off with each would never end in a steady stream. */
  #changed(): void {
    if (this.#due !== null || this.#closed) return;
    this.#due = setTimeout(() => {
      this.#due = null;
      try {
        this.#options.onChange();
      } catch (error) {
        this.#options.logger.warn(`after a change: ${plainMessage(error)}`);
      }
    }, debounceMs).unref();
  }
}

async function fingerprint(path: string): Promise<string | null> {
  try {
    const { dev, ino, birthtimeNs, mtimeNs, size } = await stat(path, { bigint: true });
    return [dev, ino, birthtimeNs, mtimeNs, size].join(':');
  } catch {
    // Missing, or out of reach for now: the same to a watcher.
    return null;
  }
}

/** Tells a folder from the one that had its name before: inode numbers are given again, birth times are not. */
async function folderIdentity(path: string): Promise<string | null> {
  try {
    const found = await stat(path, { bigint: true });
    return found.isDirectory() ? [found.dev, found.ino, found.birthtimeNs].join(':') : null;
  } catch {
    return null;
  }
}
