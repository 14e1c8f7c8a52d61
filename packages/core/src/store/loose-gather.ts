import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import type { LooseObjects, NewObject } from './loose-objects.js';
import type { PackIndexes } from './pack-index.js';
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
  const gathered: NewObject[] = [];
  const copies: Oid[] = [];
  const isFull = { now: false };
  let bytes = 0;
  for (const oid of ids) {
    const stat = await loose.stat(oid);
    if (stat === null || Date.now() - stat.mtimeMs < youngMs) continue;
    if ((await packOf(places, oid)) !== null) copies.push(oid);
    else {
      const object = await loose.read(oid, maxObjectBytes);
      // One that is damaged stays where git fsck names it.
      if (typeof object === 'string') continue;
      gathered.push({ oid, ...object });
      bytes += object.data.length;
    }
    isFull.now = gathered.length + copies.length >= bounds.maxObjects || bytes >= bounds.maxBytes;
    if (isFull.now) break;
  }
  if (gathered.length > 0) {
    const files = await packFiles(gathered);
    await publishPack(fs, packFolder, files);
    packs.add(files.name, files.index);
  }
  // Do not reorder: what was gathered is durable before its file goes.
  const removed = await removeCopies(places, [...copies, ...gathered.map(({ oid }) => oid)], bounds.graceMs);
  return isFull.now && gathered.length + removed > 0;
}

/** An index may be wrong about its pack: only an object that was read out of it, and has that id, is in it. */
async function packOf({ packs, packed }: GatherPlaces, oid: Oid): Promise<string | null> {
  for (const place of packs.places(oid)) {
    const object = await packed.read(oid, place, maxObjectBytes);
    if (object !== null && object !== 'too large') return place.pack;
  }
  return null;
}

async function removeCopies(
  places: GatherPlaces,
  oids: readonly Oid[],
  graceMs: number,
): Promise<number> {
  const { fs, packFolder, loose } = places;
  const since = new Map<string, number>();
  let removed = 0;
  for (const oid of oids) {
    const pack = await packOf(places, oid);
    if (pack === null) continue;
    const at = since.get(pack) ?? (await fs.stat(join(packFolder, `${pack}.idx`)))?.mtimeMs ?? Infinity;
    since.set(pack, at);
    if (at + graceMs > Date.now()) continue;
    await loose.remove(oid);
    removed += 1;
  }
  return removed;
}
