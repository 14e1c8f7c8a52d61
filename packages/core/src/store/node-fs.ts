import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fs, FsFile, FsStat } from './fs.js';
import { isErrno } from './fs.js';

const onWindows = process.platform === 'win32';
/** How long steps made in place may keep everything else in the process from running. */
const longestRunMs = 10;
const fsync = promisify(fs.fsync);
const readFile = promisify(fs.readFile);

/** A file up to this size is read at once: its bytes are most likely in memory already. */
const smallFileBytes = 256 * 1024;

/** Awaiting what is settled already never leaves the microtasks: without this a loop of reads would starve all timers. */
class Breath {
  #turnBegan = performance.now();

  async after<Result>(result: Result): Promise<Result> {
    if (performance.now() - this.#turnBegan < longestRunMs) return result;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnBegan = performance.now();
    return result;
  }
}
const breath = new Breath();

/**
 * The real disk. A commit is some eighty steps of a few microseconds each, and a hop through node's thread pool costs
 * ten times as much as one of them: so they are made in place. What really waits for the disk, fsync and large reads,
 * goes through the pool, many at once. A long row of steps lets timers and sockets have their turn every few milliseconds.
 */
export const nodeFs: Fs = {
  open: settled((path, how, mode = 0o666) => {
    const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;
    const flags = { new: O_RDWR | O_CREAT | O_EXCL, read: O_RDONLY, append: O_RDWR | O_APPEND }[how];
    return nodeFile(fs.openSync(path, flags, mode));
  }),
  async readFile(path) {
    const file = fs.openSync(path, 'r');
    try {
      const large = fs.fstatSync(file).size > smallFileBytes;
      return large ? await readFile(file) : await breath.after(fs.readFileSync(file));
    } finally {
      fs.closeSync(file);
    }
  },
  stat: settled((path) => {
    try {
      const stats = fs.statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? null : statOf(stats);
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  }),
  list: settled((folder) => {
    try {
      return fs.readdirSync(folder);
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return [];
      throw error;
    }
  }),
  makeFolder: settled((path) => makeFolder(path)),
  rename: (from, to) =>
    patiently(() => {
      fs.renameSync(from, to);
    }),
  link: settled((existing, path) => {
    fs.linkSync(existing, path);
  }),
  unlink: (path) =>
    patiently(() => {
      fs.unlinkSync(path);
    }),
  removeFolder: (path) =>
    patiently(() => {
      fs.rmdirSync(path);
    }),
  removeAll: (path) => fs.promises.rm(path, { recursive: true, force: true, maxRetries: onWindows ? 10 : 0 }),
  async syncFolder(path) {
    if (onWindows) return;
    const folder = fs.openSync(path, 'r');
    try {
      await fsync(folder);
    } catch (error) {
      // Some network and FUSE file systems have no fsync for folders.
      if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR')) throw error;
    } finally {
      fs.closeSync(folder);
    }
  },
};

function nodeFile(file: number): FsFile {
  return {
    write: settled((bytes) => {
      for (let at = 0; at < bytes.length;) at += fs.writeSync(file, bytes, at);
    }),
    read: settled((offset, length) => {
      const buffer = new Uint8Array(length);
      let at = 0;
      while (at < length) {
        const count = fs.readSync(file, buffer, at, length - at, offset + at);
        if (count === 0) break;
        at += count;
      }
      return buffer.subarray(0, at);
    }),
    stat: settled(() => statOf(fs.fstatSync(file))),
    truncate: settled((length) => {
      fs.ftruncateSync(file, length);
    }),
    sync: () => fsync(file),
    close: settled(() => {
      fs.closeSync(file);
    }),
  };
}

/** node's own recursive mkdir never returns where a folder is there but takes nothing in, as in /proc. */
function makeFolder(path: string): string | null {
  try {
    fs.mkdirSync(path);
    return path;
  } catch (error) {
    if (isErrno(error, 'EEXIST') && fs.statSync(path).isDirectory()) return null;
    if (!isErrno(error, 'ENOENT') || dirname(path) === path) throw error;
  }
  const topmost = makeFolder(dirname(path));
  try {
    fs.mkdirSync(path);
  } catch (error) {
    // Somebody else made it a moment ago.
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  return topmost ?? path;
}

/** A step made in place whose failure is a rejection, as a caller of a promise expects. */
function settled<Args extends unknown[], Result>(step: (...args: Args) => Result): (...args: Args) => Promise<Result> {
  return (...args) => {
    try {
      return breath.after(step(...args));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

function statOf(stats: fs.Stats): FsStat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  return { kind, size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino, device: stats.dev };
}

/** On Windows a reader or a virus scanner that has the file open makes these fail for a moment. */
async function patiently(step: () => void): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      step();
      return;
    } catch (error) {
      if (!onWindows || tries >= 20 || !isErrno(error, 'EPERM', 'EACCES', 'EBUSY')) throw error;
      await sleep(5 * tries);
    }
  }
}
