import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import type { LooseObjects, NewObject } from './loose-objects.js';
import type { PackIndexes } from './pack-indexes.js';
import { publishPack } from './pack-publish.js';
import { packFiles } from './pack-write.js';
import type { PackedObjects } from './packed-objects.js';

/** Whoever wrote a younger file may still be about to name it, and a `git repack -ad` drops what no ref names. */
export const youngMs: number = 10 * 60_000;
/** Larger ones stay as they are: nothing in a mesh is near this. */
const maxObjectBytes = 4 * 1024 * 1024;

export interface GatherBounds {
  /** Objects that one step packs or removes at most. */
  maxObjects: number;
  /** Loose objects that one step looks at, at most. */
  maxLooked: number;
  /** Content that one step packs at most, in bytes, but for the last object. */
  maxBytes: number;
  /** How long a pack has to be there, in milliseconds, before the loose copies of what it holds are removed. */
  graceMs: number;
}

export interface GatherPlaces {
  fs: Fs;
  packFolder: string;
  loose: LooseObjects;
  packs: PackIndexes;
  packed: PackedObjects;
}

/**
 * One step of putting loose objects into a pack, and of removing those that a pack has had for long enough. It keeps
 * nothing in mind: what is to be done is seen from the folder, so it may be cut off anywhere. Only under the store lock.
 * Gives whether it left something that another step could do at once.
 */
export async function gatherLoose(places: GatherPlaces, bounds: GatherBounds): Promise<boolean> {
  const { fs, packFolder, loose, packs } = places;
  const ids = await loose.ids();
  if (ids.length === 0) return false;
  await packs.refresh();
  const settled = settledPacks(places, bounds.graceMs);
  const gathered: NewObject[] = [];
  const copies: Oid[] = [];
  const looked = lookedAt(ids, bounds.maxLooked);
  let bytes = 0;
  let isFull = looked.length < ids.length;
  for (const oid of looked) {
    const held = await packs.places(oid);
    // What waits for the end of its grace keeps nothing else from its turn.
    if (held.length > 0 && !(await someAsync(held, ({ pack }) => settled(pack)))) continue;
    const stat = await loose.stat(oid);
    if (stat === null || Date.now() - stat.mtimeMs < youngMs) continue;
    if (await isCopied(places, oid, settled)) copies.push(oid);
    else {
      const object = await loose.read(oid, maxObjectBytes);
      // One that is damaged stays where git fsck names it.
      if (typeof object === 'string') continue;
      gathered.push({ oid, ...object });
      bytes += object.data.length;
    }
    if (gathered.length + copies.length < bounds.maxObjects && bytes < bounds.maxBytes) continue;
    isFull = true;
    break;
  }
  if (gathered.length > 0) {
    const files = await packFiles(gathered);
    await publishPack(fs, packFolder, files);
    packs.add(files.name, files.index);
    // Do not reorder: what was gathered is durable before its file goes.
    const settledNow = settledPacks(places, bounds.graceMs);
    for (const { oid } of gathered) if (await isCopied(places, oid, settledNow)) copies.push(oid);
  }
  for (const oid of copies) await loose.remove(oid);
  return isFull && gathered.length + copies.length > 0;
}

/** From anywhere on, where there are more than one step looks at, so that each gets its turn. */
function lookedAt(ids: readonly Oid[], most: number): readonly Oid[] {
  if (ids.length <= most) return ids;
  const from = Math.floor(Math.random() * ids.length);
  return [...ids.slice(from), ...ids.slice(0, from)].slice(0, most);
}

type IsSettled = (pack: string) => Promise<boolean>;

/** Whether a pack has been there for the grace; each is looked at once. */
function settledPacks({ fs, packFolder }: GatherPlaces, graceMs: number): IsSettled {
  const known = new Map<string, boolean>();
  return async (pack) => {
    const before = known.get(pack);
    if (before !== undefined) return before;
    const stat = await fs.stat(join(packFolder, `${pack}.idx`));
    // Without a grace by no clock: the file system's may be ahead, if only by part of a millisecond.
    const isSettled = stat !== null && (graceMs === 0 || stat.mtimeMs + graceMs <= Date.now());
    known.set(pack, isSettled);
    return isSettled;
  };
}

/** An index may be wrong about its pack: only an object that was read out of it, and has that id, is in it. */
async function isCopied({ packs, packed }: GatherPlaces, oid: Oid, settled: IsSettled): Promise<boolean> {
  return someAsync(await packs.places(oid), async (place) => {
    if (!(await settled(place.pack))) return false;
    const object = await packed.read(oid, place, maxObjectBytes);
    return object !== null && object !== 'too large';
  });
}

async function someAsync<T>(values: readonly T[], holds: (value: T) => Promise<boolean>): Promise<boolean> {
  for (const value of values) if (await holds(value)) return true;
  return false;
}
