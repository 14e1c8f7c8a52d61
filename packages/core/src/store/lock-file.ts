import { join } from 'node:path';
import { discard, temporaryPath, writeTemporary } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import type { ProcessIdentity } from './ports.js';
import { isIdentity } from './local-shapes.js';
import { finite, parseJson, shaped, text } from './shape.js';

/** What a lock says of its holder. `since` is in milliseconds since 1970. */
export interface Holder {
  identity: ProcessIdentity;
  /** Differs from one acquisition to the next. */
  nonce: string;
  since: number;
}

/** What stands at a lock's path. `unnamed` is a file that names no one; its id changes with the file. */
export type LockState =
  { kind: 'free' } | { kind: 'held'; holder: Holder } | { kind: 'unnamed'; id: string; mtimeMs: number };

const isHolder = shaped<Holder>({ identity: isIdentity, nonce: text, since: finite });
const holderName = 'holder';

/**
 * Puts a lock with its holder at `path` in one step; false when something is there. A file is written under another name
 * and given the lock's with link(2), which fails where something is. On file systems without links (FAT, some network
 * shares) a folder with the file in it is renamed to the lock's name instead: a rename replaces no file and no folder
 * that has anything in it. Either way no one ever sees a lock that names no holder, and the two ways exclude each other.
 */
export async function publishLock(
  fs: Fs,
  path: string,
  { holder, temporaries }: { holder: Holder; temporaries: string },
): Promise<boolean> {
  const bytes = Buffer.from(JSON.stringify(holder));
  const temporary = await writeTemporary(fs, temporaries, bytes, { sync: false });
  try {
    await fs.link(temporary, path);
    return true;
  } catch (error) {
    // A network share may have made the link and lost the answer.
    if (await isOurs(fs, path, holder)) return true;
    if (isErrno(error, 'EEXIST')) return false;
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL', 'EISDIR')) throw error;
  } finally {
    await discard(fs, temporary);
  }
  return publishFolder(fs, path, { holder, bytes, temporaries });
}

async function isOurs(fs: Fs, path: string, { nonce }: Holder): Promise<boolean> {
  const state = await readLock(fs, path);
  return state.kind === 'held' && state.holder.nonce === nonce;
}

async function publishFolder(
  fs: Fs,
  path: string,
  { holder, bytes, temporaries }: { holder: Holder; bytes: Uint8Array; temporaries: string },
): Promise<boolean> {
  const folder = temporaryPath(temporaries);
  await fs.makeFolder(folder);
  try {
    const file = await fs.open(join(folder, holderName), 'new');
    try {
      await file.write(bytes);
    } finally {
      await file.close();
    }
    await fs.rename(folder, path);
    return true;
  } catch (error) {
    await fs.removeAll(folder);
    if (await isOurs(fs, path, holder)) return true;
    // Windows has another error for it, which may have become one of ours on the way.
    if (isErrno(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR') || (await fs.stat(path)) !== null) return false;
    throw error;
  }
}

export async function readLock(fs: Fs, path: string): Promise<LockState> {
  const stat = await fs.stat(path);
  if (stat === null) return { kind: 'free' };
  const bytes = await readHolder(fs, stat.kind === 'folder' ? join(path, holderName) : path);
  if (bytes === null) {
    // Released between the two, unless it is a folder with nothing in it.
    if (stat.kind !== 'folder' || (await fs.stat(path)) === null) return { kind: 'free' };
  }
  const holder = bytes === null ? undefined : parseJson(bytes);
  if (isHolder(holder)) return { kind: 'held', holder };
  return { kind: 'unnamed', id: `unnamed-${stat.inode}-${Math.floor(stat.mtimeMs)}`, mtimeMs: stat.mtimeMs };
}

async function readHolder(fs: Fs, path: string): Promise<Uint8Array | null> {
  try {
    return await fs.readFile(path);
  } catch (error) {
    // EISDIR: a folder took the file's place a moment ago.
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return null;
    throw error;
  }
}

/** Removes whatever stands at `path`, in one step for everyone who looks. */
export async function removeLock(fs: Fs, path: string, temporaries: string): Promise<void> {
  try {
    await fs.unlink(path);
    return;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    if ((await fs.stat(path))?.kind !== 'folder') throw error;
  }
  const aside = temporaryPath(temporaries);
  await fs.rename(path, aside);
  await fs.removeAll(aside);
}
