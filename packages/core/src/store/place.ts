import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Ulid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { readConfig } from './config.js';
import type { Fs } from './fs.js';
import { guardedFs } from './guarded-fs.js';
import type { StorePlace } from './ports.js';
import { textOf } from './process-start.js';

/**
 * `new`: nothing is known yet. `same`, `moved`: this very folder. `restored`: other files than those that were here last,
 * and no other store where they were: put back from a backup. `copied`: the store that was recorded may be in use elsewhere.
 */
export type PlaceVerdict = 'new' | 'same' | 'moved' | 'restored' | 'copied';

/**
 * Tells a store from a copy of it.
 *
 * @param there what stands at the recorded path: this very folder (by another path), another folder with a store of the
 * same id, or no such store
 */
export function judgePlace(
  recorded: StorePlace | null,
  here: StorePlace,
  there: 'this' | 'another' | 'none',
): PlaceVerdict {
  if (recorded === null) return 'new';
  if (recorded.host !== null && here.host !== null && recorded.host !== here.host) return 'copied';
  if (recorded.path !== here.path && there === 'another') return 'copied';
  const sameFiles =
    recorded.folder === here.folder &&
    // One that was lost is not put back: it is made anew, and the numbers with it.
    (recorded.journal === null || here.journal === null || recorded.journal === here.journal);
  if (!sameFiles) return 'restored';
  return recorded.path === here.path && recorded.journal === here.journal ? 'same' : 'moved';
}

/** Where the store in `dir` stands now. */
export async function placeOf(fs: Fs, dir: string): Promise<StorePlace> {
  const folder = await fs.stat(dir);
  const journal = await fs.stat(join(dir, 'mesh', 'journal'));
  return {
    host: await hostFingerprint(),
    path: resolve(dir),
    folder: folder?.inode ?? 0,
    journal: journal?.inode ?? null,
  };
}

/** What stands at the path of `recorded` now, for {@link judgePlace}. `raw` is the disk, on which that path lies outside of the store. */
export async function lookAtPlace(
  raw: Fs,
  recorded: StorePlace,
  { dir, store }: { dir: string; store: Ulid },
): Promise<'this' | 'another' | 'none'> {
  if (recorded.path === resolve(dir)) return 'this';
  const fs = guardedFs(raw, recorded.path);
  try {
    const [there, here] = [await fs.stat(recorded.path), await guardedFs(raw, dir).stat(dir)];
    if (there === null) return 'none';
    if (there.inode === here?.inode && there.device === here.device) return 'this';
    return (await readConfig(fs, recorded.path)).store === store ? 'another' : 'none';
  } catch (error) {
    // No store that this user can see: then it is none that this user runs.
    if (error instanceof MeshError) return 'none';
    throw error;
  }
}

/** A hash, since the machine's id is to be kept confidential (machine-id(5)); other platforms have no file of it. */
async function hostFingerprint(): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  const id = await textOf('/etc/machine-id');
  if (id === null || !/^[0-9a-f]{32}$/.test(id)) return null;
  return createHash('sha256').update(`git-mesh place\0${id}`).digest('hex').slice(0, 32);
}
