import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../errors.js';
import { discard } from './durable-fs.js';
import type { Fs, FsFile } from './fs.js';
import { isErrno } from './fs.js';

const waitMs = 2_000;
const leftoverAfterMs = 10 * 60_000;

/**
 * Runs `change` while `<path>.lock` is ours, as git locks its files. `publish` writes the text into the lock, makes it
 * durable and renames it over `path`; without it (or on a failure before the rename) the file stays as it was.
 * @throws MeshError `locked` when another process holds the lock for over 2 s.
 */
export async function withRefLock(
  fs: Fs,
  path: string,
  change: (publish: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const lock = `${path}.lock`;
  const file = await openLock(fs, lock);
  const state = { published: false, open: true };
  const close = async (): Promise<void> => {
    if (!state.open) return;
    state.open = false;
    await file.close();
  };
  try {
    await change(async (text) => {
      await file.write(Buffer.from(text));
      await file.sync();
      await close();
      await fs.rename(lock, path);
      state.published = true;
      await fs.syncFolder(dirname(path));
    });
  } catch (error) {
    await close();
    if (!state.published) await discard(fs, lock);
    throw error;
  }
  if (state.published) return;
  await close();
  await fs.unlink(lock);
}

async function openLock(fs: Fs, lock: string): Promise<FsFile> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      return await fs.open(lock, 'new');
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
    const stat = await fs.stat(lock);
    const age = stat === null ? 0 : Date.now() - stat.mtimeMs;
    if (age > leftoverAfterMs) {
      await removeLeftover(fs, lock);
    } else if (Date.now() > deadline) {
      throw new MeshError(
        'locked',
        `${basename(lock)} is held by another process since ${Math.round(age / 1000)} s (a git command in the store?): try again; if no git runs there, one that was killed left it, and it is removed once it is 10 minutes old`,
      );
    } else {
      await sleep(10 + Math.random() * 30);
    }
  }
}

async function removeLeftover(fs: Fs, lock: string): Promise<void> {
  try {
    await fs.unlink(lock);
  } catch (error) {
    // Another process removed it first.
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}
