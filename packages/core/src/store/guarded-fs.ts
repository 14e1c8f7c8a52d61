import { relative, sep } from 'node:path';
import { MeshError } from '../errors.js';
import { withoutTemporaryNames } from './durable-fs.js';
import type { Fs, FsFile } from './fs.js';
import { errnoOf } from './fs.js';

/** What a caller asks about, and answers itself: there is nothing, something else, or something in the way. */
const answers: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY']);
/** How file systems without hard links answer: the caller has another way then. */
const noHardLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/**
 * `fs` whose failures that a user can mend are MeshErrors naming the path relative to `root` (or saying `as` for every
 * path): `disk_full`, `read_only`, and `store_unusable` for all else that keeps a disk from doing what it was told. What
 * callers go by (ENOENT, EEXIST…) stays as it is.
 */
export function guardedFs(fs: Fs, root: string, { as }: { as?: string } = {}): Fs {
  const shown = (path: string): string => as ?? relativePath(root, path);
  const guard = async <T>(what: 'read' | 'write', path: string, step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      throw storageError(error, { what, shown: shown(path), placed: as === undefined }) ?? error;
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
        if (noHardLinks.has(errnoOf(error) ?? '')) throw error;
        throw storageError(error, { what: 'write', shown: shown(path), placed: as === undefined }) ?? error;
      }
    },
    unlink: (path) => guard('write', path, () => fs.unlink(path)),
    removeFolder: (path) => guard('write', path, () => fs.removeFolder(path)),
    removeAll: (path) => guard('write', path, () => fs.removeAll(path)),
    syncFolder: (path) => guard('write', path, () => fs.syncFolder(path)),
  };
}

function relativePath(root: string, path: string): string {
  const inside = withoutTemporaryNames(relative(root, path).split(sep).join('/'));
  return inside === '' ? `the store at ${root}` : inside;
}

const adviceFor: Readonly<Record<string, string>> = {
  ELOOP: 'its symbolic links lead in a circle; mend them, or choose another --dir',
  ENAMETOOLONG: 'a name in its path is longer than this disk takes; choose a shorter --dir',
  EMFILE: 'this process may open no more files; raise the limit (ulimit -n) and try again',
  ENFILE: 'this system may open no more files; end what holds them and try again',
  EIO: 'the disk failed; check it, then run git mesh doctor',
  ESTALE: 'the network share was mounted anew or its server changed; mount it again and try again',
};

/** Null for a failure that is no trouble of the disk's. A store that is not `placed` yet may be made elsewhere. */
function storageError(
  error: unknown,
  at: { what: 'read' | 'write'; shown: string; placed: boolean },
): MeshError | null {
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
            `${at.shown} cannot be written (${code}): nothing was stored; make the store writable for this user (mount, owner and mode of its folder)${at.placed ? '' : ', or name another folder with --dir,'} and try again`,
            options,
          )
        : new MeshError(
            'store_unusable',
            `${at.shown} cannot be read (${code}): expected a store that this user may read; check the owner and mode of its folder`,
            options,
          );
    default:
      if (code === undefined || answers.has(code) || !/^E[A-Z0-9]+$/.test(code)) return null;
      return new MeshError(
        'store_unusable',
        `${at.shown} cannot be ${at.what === 'read' ? 'read' : 'written'} (${code}): ${adviceFor[code] ?? 'see that its disk is there and well, and try again; git mesh doctor looks at the store'}`,
        options,
      );
  }
}
