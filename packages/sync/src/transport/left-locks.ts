import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, isErrno } from '@git-mesh/core';
import type { RefName } from '@git-mesh/core';
import type { LockThere, RemoteLocks } from './port.js';

/**
 * git's locks name nobody, so age is the only proof there is. That this store is the branch's one writer proves nothing
 * sooner: another machine may carry the branch here, and a `git receive-pack` of ours that outlived whoever started it
 * may wait in a hook with the lock in its hand. git holds such a lock for milliseconds, a hook for seconds.
 */
const leftAfterMs = 10 * 60_000;
/** One of a time to come was made before the clock there was set back: it would be young for ever. */
const aheadAfterMs = 60 * 60_000;
/** git's locks in a repository's own folder. */
const lockNames = ['HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock'];
/** More locks than anybody wants to read of. */
const maxNamed = 20;

/**
 * git's locks in the bare repository at `repository`. What else a git that was killed leaves there (half a push,
 * `objects/tmp_objdir…`) is in nobody's way, and git prunes it after two weeks.
 */
export function leftLocks(repository: string): RemoteLocks {
  const now = (): Promise<number | null> => timeThere(repository);
  const on = (ref: RefName): Promise<LockThere | null> => lockAt(repository, `${ref}.lock`, now);
  return {
    on,
    async remove(ref) {
      const lock = await on(ref);
      if (lock === null) return true;
      if (!lock.isLeft) return false;
      try {
        await unlink(join(repository, lock.path));
      } catch (error) {
        // Whoever may not remove it is told of it as of a young one.
        if (isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'EBUSY')) return false;
        if (!isErrno(error, 'ENOENT')) throw error;
      }
      return true;
    },
    async left() {
      const found: LockThere[] = [];
      let time: Promise<number | null> | undefined;
      for (const path of [...lockNames, ...(await locksBelow(repository, 'refs'))]) {
        const lock = await lockAt(repository, path, () => (time ??= now()));
        if (lock?.isLeft === true && found.length < maxNamed) found.push(lock);
      }
      return found;
    },
  };
}

async function lockAt(
  repository: string,
  path: string,
  timeNow: () => Promise<number | null>,
): Promise<LockThere | null> {
  try {
    const stat = await lstat(join(repository, path));
    const madeAt = stat.mtimeMs;
    // What is no file was not made by git.
    if (!stat.isFile()) return { path, madeAt, freeAt: null, isLeft: false };
    const now = await timeNow();
    const isLeft = now !== null && (now - madeAt > leftAfterMs || madeAt - now > aheadAfterMs);
    return { path, madeAt, freeAt: now === null ? null : madeAt + leftAfterMs, isLeft };
  } catch (error) {
    // Not there; or a share that is gone, a folder that may not be read: the exchange itself tells of those.
    if (errnoOf(error) !== undefined) return null;
    throw error;
  }
}

/**
 * The time by the clock that dates the files there, which on a share is not ours: that of a new file. Null where none
 * can be made, or removed. What a crash leaves of it git prunes.
 */
async function timeThere(repository: string): Promise<number | null> {
  const probe = join(repository, 'objects', `tmp_mesh_${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(probe, '', { flag: 'wx' });
    const { mtimeMs } = await lstat(probe);
    await unlink(probe);
    return mtimeMs;
  } catch (error) {
    if (errnoOf(error) !== undefined) return null;
    throw error;
  }
}

async function locksBelow(repository: string, folder: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(join(repository, folder), { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) !== undefined) return [];
    throw error;
  }
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await locksBelow(repository, path)));
    else if (entry.name.endsWith('.lock')) found.push(path);
  }
  return found;
}
