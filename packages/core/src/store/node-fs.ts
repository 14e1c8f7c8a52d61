import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import * as fsp from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fs, FsFile, FsStat } from './fs.js';
import { isErrno } from './fs.js';

const onWindows = process.platform === 'win32';

/** The real disk. */
export const nodeFs: Fs = {
  async open(path, how, mode = 0o666) {
    const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = constants;
    const flags = { new: O_RDWR | O_CREAT | O_EXCL, read: O_RDONLY, append: O_RDWR | O_APPEND }[how];
    return nodeFile(await fsp.open(path, flags, mode));
  },
  readFile: (path) => fsp.readFile(path),
  async stat(path) {
    try {
      return statOf(await fsp.stat(path));
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  },
  async list(folder) {
    try {
      return await fsp.readdir(folder);
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return [];
      throw error;
    }
  },
  async makeFolder(path) {
    return (await fsp.mkdir(path, { recursive: true })) ?? null;
  },
  rename: (from, to) => patiently(() => fsp.rename(from, to)),
  link: (existing, path) => fsp.link(existing, path),
  unlink: (path) => patiently(() => fsp.unlink(path)),
  removeFolder: (path) => patiently(() => fsp.rmdir(path)),
  removeAll: (path) => fsp.rm(path, { recursive: true, force: true, maxRetries: onWindows ? 10 : 0 }),
  async syncFolder(path) {
    if (onWindows) return;
    const folder = await fsp.open(path, 'r');
    try {
      await folder.sync();
    } catch (error) {
      // Some network and FUSE file systems have no fsync for folders.
      if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR')) throw error;
    } finally {
      await folder.close();
    }
  },
};

function nodeFile(handle: fsp.FileHandle): FsFile {
  return {
    async write(bytes) {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, at);
        at += bytesWritten;
      }
    },
    async read(offset, length) {
      const buffer = new Uint8Array(length);
      let at = 0;
      while (at < length) {
        const { bytesRead } = await handle.read(buffer, at, length - at, offset + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return buffer.subarray(0, at);
    },
    async stat() {
      return statOf(await handle.stat());
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

function statOf(stats: Stats): FsStat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  return { kind, size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino };
}

/** On Windows a reader or a virus scanner that has the file open makes these fail for a moment. */
async function patiently(step: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await step();
      return;
    } catch (error) {
      if (!onWindows || tries >= 20 || !isErrno(error, 'EPERM', 'EACCES', 'EBUSY')) throw error;
      await sleep(5 * tries);
    }
  }
}
