import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { indexedObjects, isIndexName } from './pack-index.js';
import { publishPack } from './pack-publish.js';
import { joinPacked } from './pack-write.js';
import type { PackFiles, PackedEntry } from './pack-write.js';

/** So many packs of one size class become one of the next. */
const packsOfAClass = 16;
/** Objects that a pack of each class has at most; a larger one is never touched. */
const classes = [256, 4_096, 65_536];
/** Larger ones are left alone, so that a run stays within 64 MB of memory or so. */
const maxPackBytes = 4 * 1024 * 1024;
const emptyIndexBytes = 1_072;
const indexBytesAnObject = 28;
/** What git or a user put beside a pack says that it is looked after by them. */
const ownFiles = new Set(['pack', 'idx', 'rev']);

/**
 * Every commit leaves a small pack, and whoever reads has to look into all of them. This joins the packs of a size class
 * once there are many, so that an object is copied once a class and the packs stay few. Objects are copied as they stand;
 * none is dropped, reachable or not. Only under the store lock. Gives the pack that was made, if any.
 *
 * The old packs are removed at once, as `git repack -d` does: readers that meet a vanished pack look again.
 */
export async function consolidatePacks(fs: Fs, folder: string): Promise<PackFiles | null> {
  const names = await fs.list(folder);
  if (names.filter(isIndexName).length < packsOfAClass) return null;
  // An index over several packs names each of them: git's own maintenance is at work here.
  if (names.includes('multi-pack-index')) return null;
  const group = await fullClass(fs, folder, names);
  if (group === null) return null;
  const packs: ReadPack[] = [];
  for (const name of group) {
    const read = await readPack(fs, folder, name);
    if (read !== null) packs.push(read);
  }
  const { entries, taken } = joined(packs);
  if (taken.length < 2) return null;
  const made = joinPacked(entries);
  await publishPack(fs, folder, made);
  for (const name of taken) if (name !== made.name) await removePack(fs, folder, name);
  return made;
}

interface ReadPack {
  name: string;
  entries: PackedEntry[];
  hasDeltas: boolean;
}

/** Each object once. A delta may point back by a number of bytes, so a pack with deltas goes in as one piece or not at all. */
function joined(packs: readonly ReadPack[]): { entries: PackedEntry[]; taken: string[] } {
  const entries = new Map<string, PackedEntry>();
  const taken: string[] = [];
  for (const pack of [...packs].sort((a, b) => Number(b.hasDeltas) - Number(a.hasDeltas))) {
    const added = pack.entries.filter(({ oid }) => !entries.has(oid.toString('latin1')));
    if (pack.hasDeltas && added.length < pack.entries.length) continue;
    for (const entry of added) entries.set(entry.oid.toString('latin1'), entry);
    taken.push(pack.name);
  }
  return { entries: [...entries.values()], taken };
}

/** The names of the packs of the smallest class that is full; null where none is. */
async function fullClass(fs: Fs, folder: string, names: readonly string[]): Promise<string[] | null> {
  const kept = new Set(names.filter((name) => !ownFiles.has(endOf(name))).map(stemOf));
  const groups = classes.map((): string[] => []);
  for (const name of names) {
    const stem = stemOf(name);
    if (!isIndexName(name) || kept.has(stem)) continue;
    if (((await fs.stat(join(folder, `${stem}.pack`)))?.size ?? Infinity) > maxPackBytes) continue;
    const count = ((await fs.stat(join(folder, name)))?.size ?? Infinity) - emptyIndexBytes;
    groups[classes.findIndex((most) => count / indexBytesAnObject <= most)]?.push(stem);
  }
  return groups.find((group) => group.length >= packsOfAClass) ?? null;
}

/** Null for one that is damaged or gone. */
async function readPack(fs: Fs, folder: string, name: string): Promise<ReadPack | null> {
  const pack = await readIfThere(fs, join(folder, `${name}.pack`));
  const index = await readIfThere(fs, join(folder, `${name}.idx`));
  const placed = index === null ? null : indexedObjects(index);
  if (pack === null || placed === null) return null;
  const read: ReadPack = { name, entries: [], hasDeltas: false };
  for (const [n, { oid, crc, offset }] of placed.entries()) {
    const bytes = pack.subarray(offset, placed[n + 1]?.offset ?? pack.length - 20);
    // What is damaged stays where git fsck names it.
    if (crc32(bytes) !== crc) return null;
    read.hasDeltas ||= isDelta(bytes);
    read.entries.push({ oid, crc, bytes });
  }
  return read;
}

function isDelta(entry: Uint8Array): boolean {
  const type = ((entry[0] ?? 0) >> 4) & 7;
  return type === 6 || type === 7;
}

async function removePack(fs: Fs, folder: string, name: string): Promise<void> {
  try {
    // Do not reorder: an index without its pack is damage to git.
    await fs.unlink(join(folder, `${name}.idx`));
  } catch (error) {
    // Gone already; else (Windows, while somebody reads it) it stays with its pack, and both go with a later run.
    if (!isErrno(error, 'ENOENT')) return;
  }
  for (const end of ['rev', 'pack']) await discard(fs, join(folder, `${name}.${end}`));
}

const stemOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const endOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
