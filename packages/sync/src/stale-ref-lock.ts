import { lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RefName } from '@git-mesh/core';

/** A lock that names nobody is given up at this age, as the store does with git's locks. */
export const staleLockAfterMs: number = 10 * 60_000;
/** What git may have written into it: nothing yet, or the new tip. */
const maxLockBytes = 64;

/**
 * Removes what a killed `git receive-pack` left on the own branch of a repository on a disk: `<ref>.lock`, which keeps
 * every later push of it out for good. True where one was removed.
 *
 * Only for the own branch: nobody else writes it, and git holds the lock of a ref for the moment in which the ref is
 * replaced. Should a push of this very store hold one all the same, two of them replace the ref at once, each with the
 * tip it saw as its lease: the branch ends at one of our own commits, and the next look tells which.
 */
export async function removeStaleRefLock(
  repository: string,
  ref: RefName,
  { nowMs }: { nowMs: number },
): Promise<boolean> {
  const path = join(repository, `${ref}.lock`);
  try {
    const lock = await lstat(path);
    if (!lock.isFile() || lock.size > maxLockBytes || nowMs - lock.mtimeMs < staleLockAfterMs) return false;
    await unlink(path);
    return true;
  } catch (error) {
    // Gone by now, or not ours to look at or to remove: then the refusal is told as it came.
    if (error instanceof Error && 'code' in error && expectedCodes.has(String(error.code))) return false;
    throw error;
  }
}

const expectedCodes: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'EBUSY']);
