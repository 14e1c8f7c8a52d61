import { join } from 'node:path';
import { discard, sweepTemporary } from './durable-fs.js';
import type { Fs } from './fs.js';
import { HolderLocks, sweepClaims } from './holder-locks.js';
import { provenDead } from './identity.js';
import { readLock } from './lock-file.js';
import { nextPath } from './lock-turns.js';

const leftoverAfterMs = 10 * 60_000;
/** Files that git locks in the folder of a repository, besides refs: a person's git that was killed leaves these. */
const gitLocks = ['HEAD.lock', 'config.lock', 'index.lock', 'packed-refs.lock', 'shallow.lock'];
/** More levels than a store has folders below one another. */
const maxDepth = 8;

/**
 * Removes what killed processes left in the store at `dir`: temporary files, folders and packs without an index older
 * than 10 minutes, locks and claims whose holders are proven dead, and git's locks, which name no one, once they are as
 * old. Safe at any time; gives the number of things removed.
 */
export async function sweepStore(fs: Fs, dir: string): Promise<number> {
  const local = join(dir, 'mesh');
  let removed = await sweepClaims(fs, local);
  for (const folder of [dir, join(dir, 'objects'), join(dir, 'objects', 'pack')])
    removed += await sweepTemporary(fs, folder);
  for (const folder of await foldersIn(fs, local)) removed += await sweepTemporary(fs, folder);
  removed += await sweepOthers(fs, local);
  removed += await sweepPacks(fs, join(dir, 'objects', 'pack'));
  const locks = new HolderLocks(fs, local);
  const candidates = [join(local, 'lock'), nextPath(dir), ...gitLocks.map((name) => join(dir, name))];
  for (const folder of await foldersIn(fs, join(dir, 'refs'))) {
    for (const name of await fs.list(folder)) if (name.endsWith('.lock')) candidates.push(join(folder, name));
  }
  for (const path of candidates) if (await releaseAbandoned(fs, locks, path)) removed += 1;
  return removed;
}

/** `root` and all folders below it, but for what is temporary itself. */
async function foldersIn(fs: Fs, root: string, depth = 0): Promise<string[]> {
  const folders = [root];
  if (depth >= maxDepth) return folders;
  for (const name of await fs.list(root)) {
    const path = join(root, name);
    // A lock can be a folder, where a file system knows no links.
    if (name.startsWith('tmp_') || name.endsWith('lock') || (await fs.stat(path))?.kind !== 'folder') continue;
    folders.push(...(await foldersIn(fs, path, depth + 1)));
  }
  return folders;
}

/** By taking it over, as the next one who needs it would, and giving it back. */
async function releaseAbandoned(fs: Fs, locks: HolderLocks, path: string): Promise<boolean> {
  const state = await readLock(fs, path);
  if (state.kind === 'free') return false;
  if (state.kind === 'held' && !(await provenDead(state.holder.identity))) return false;
  const nonce = await locks.tryAcquire(path);
  if (nonce === null) return false;
  await locks.release(path, nonce);
  return true;
}

/** Packs whose index was about to be put beside them. */
async function sweepPacks(fs: Fs, folder: string): Promise<number> {
  const names = new Set(await fs.list(folder));
  let removed = 0;
  for (const name of names) {
    if (!/^pack-[0-9a-f]{40}\.pack$/.test(name) || names.has(name.replace(/pack$/, 'idx'))) continue;
    const stat = await fs.stat(join(folder, name));
    if (stat === null || Date.now() - stat.mtimeMs < leftoverAfterMs) continue;
    await discard(fs, join(folder, name));
    removed += 1;
  }
  return removed;
}

/** What is written by other means than the rest of a store: git's configuration, and the worker's claim and lock. */
const otherLeftover = /^(?:(?:gitconfig|worker\.json)\.[0-9a-f]{12}\.tmp|worker\.lock\.[0-9a-f]{12}\.stray)$/;

async function sweepOthers(fs: Fs, local: string): Promise<number> {
  let removed = 0;
  for (const name of await fs.list(local)) {
    if (!otherLeftover.test(name)) continue;
    const stat = await fs.stat(join(local, name));
    if (stat === null || Date.now() - stat.mtimeMs < leftoverAfterMs) continue;
    await fs.removeAll(join(local, name));
    removed += 1;
  }
  return removed;
}
