import { mkdirSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** This user's number; undefined on Windows, where the folders of a user are closed to others by what they inherit. */
export type UserId = number | undefined;

const writableByOthers = 0o022;

const ownedBy = (stats: Stats, uid: UserId): boolean => uid === undefined || stats.uid === uid;

/** Whether this file or folder is the user's own, and nobody else may write to it. */
export function isPrivate(stats: Stats, uid: UserId): boolean {
  return ownedBy(stats, uid) && (uid === undefined || (stats.mode & writableByOthers) === 0);
}

export function isPrivateFolder(path: string, uid: UserId): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && isPrivate(stats, uid);
}

/**
 * Makes the folder, for this user alone, and what is missing above it; only under a folder of the user's own: root, in
 * another user's home, would leave folders there that this user cannot write to.
 * @returns whether there is one now that is the user's own.
 */
export function makeOwnFolder(path: string, uid: UserId): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.isDirectory() && ownedBy(stats, uid);
  const above = dirname(path);
  if (above === path || !makeOwnFolder(above, uid)) return false;
  mkdirSync(path, { mode: 0o700, recursive: true });
  return true;
}
