import { relative, sep } from 'node:path';
import { MeshError } from '../errors.js';
import type { Fs, FsFile } from './fs.js';
import { errnoOf } from './fs.js';

/**
 * `fs` whose failures that a user can mend are MeshErrors naming the path relative to `root`: `disk_full`, `read_only`,
 * and `store_unusable` for what cannot be read. All others (ENOENT, EEXIST…) stay as they are.
 */
export function guardedFs(fs: Fs, root: string): Fs {
  const guard = async <T>(what: 'read' | 'write', path: string, step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      throw storageError(error, { what, shown: relativePath(root, path) }) ?? error;
    }
  };
  const file = (path: string, inner: FsFile): FsFile => ({
    write: (bytes) => guard('write', path, () => inner.write(bytes)),
    read: (offset, length) => guard('read', path, () => inner.read(offset, length)),
    stat: () => guard('read', path, () => inner.stat()),
    truncate: (length) => guard('write', path, () => inner.truncate(length)),
    sync: () => guard('write', path, () => inner.sync()),
    close: () => guard('write', path, () => inner.close()),
  });
  return {
    open: async (path, how, mode) =>
      file(path, await guard(how === 'read' ? 'read' : 'write', path, () => fs.open(path, how, mode))),
    readFile: (path) => guard('read', path, () => fs.readFile(path)),
    stat: (path) => guard('read', path, () => fs.stat(path)),
    list: (folder) => guard('read', folder, () => fs.list(folder)),
    makeFolder: (path) => guard('write', path, () => fs.makeFolder(path)),
    rename: (from, to) => guard('write', to, () => fs.rename(from, to)),
    link: async (existing, path) => {
      try {
        await fs.link(existing, path);
      } catch (error) {
        // EPERM is how file systems without hard links answer: the caller has another way then.
        if (errnoOf(error) === 'EPERM') throw error;
        throw storageError(error, { what: 'write', shown: relativePath(root, path) }) ?? error;
      }
    },
    unlink: (path) => guard('write', path, () => fs.unlink(path)),
    removeFolder: (path) => guard('write', path, () => fs.removeFolder(path)),
    removeAll: (path) => guard('write', path, () => fs.removeAll(path)),
    syncFolder: (path) => guard('write', path, () => fs.syncFolder(path)),
  };
}

function relativePath(root: string, path: string): string {
  const inside = relative(root, path).split(sep).join('/');
  return inside === '' ? 'the store' : inside;
}

/** Null for a failure that is no trouble of the disk's. */
function storageError(error: unknown, at: { what: 'read' | 'write'; shown: string }): MeshError | null {
  const code = errnoOf(error);
  const options = { data: { path: at.shown, errno: code }, cause: error };
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new MeshError(
        'disk_full',
        `no space is left to write ${at.shown}: nothing was stored; free some space (or quota) on the store's disk and try again`,
        options,
      );
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return at.what === 'write'
        ? new MeshError(
            'read_only',
            `${at.shown} cannot be written (${code}): nothing was stored; make the store writable for this user (mount, owner and mode of its folder) and try again`,
            options,
          )
        : new MeshError(
            'store_unusable',
            `${at.shown} cannot be read (${code}): expected a store that this user may read; check the owner and mode of its folder`,
            options,
          );
    case 'EIO':
      return new MeshError(
        'store_unusable',
        `the disk failed on ${at.shown} (EIO): check the disk, then run git mesh doctor`,
        options,
      );
    default:
      return null;
  }
}
