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

/** The size class of each pack that was looked at; a pack never changes. -1: not one that is joined. */
export type KnownClasses = Map<string, number>;

/**
 * The packs of the smallest size class that has enough of them to be joined; null where none has, or where somebody else
 * looks after the packs. Cheap with the same `known` each time.
 */
export async function packsToJoin(fs: Fs, folder: string, known: KnownClasses): Promise<string[] | null> {
  const names = await fs.list(folder);
  if (names.filter(isIndexName).length < packsOfAClass) return null;
  // An index over several packs names each of them: git's own maintenance is at work here.
  if (names.includes('multi-pack-index')) return null;
  const kept = new Set(names.filter((name) => !ownFiles.has(endOf(name))).map(stemOf));
  const groups = classes.map((): string[] => []);
  for (const name of names) {
    const stem = stemOf(name);
    if (!isIndexName(name) || kept.has(stem)) continue;
    const size = known.get(stem) ?? (await classOf(fs, folder, stem));
    known.set(stem, size);
    groups[size]?.push(stem);
  }
  return groups.find((group) => group.length >= packsOfAClass) ?? null;
}

async function classOf(fs: Fs, folder: string, stem: string): Promise<number> {
  const [pack, index] = [await fs.stat(join(folder, `${stem}.pack`)), await fs.stat(join(folder, `${stem}.idx`))];
  if (pack === null || index === null || pack.size > maxPackBytes) return -1;
  return classes.findIndex((most) => (index.size - emptyIndexBytes) / indexBytesAnObject <= most);
}

/**
 * Every commit and every fetch leaves a small pack, and whoever reads has to look into all of them. This joins the packs
 * of a size class once there are many, so that an object is copied a few times a class and the packs stay few. Objects
 * are copied as they stand; none is dropped, reachable or not. Only under the store lock. Gives the pack that was made.
 *
 * The old packs are removed at once, as `git repack -d` does: readers that meet a vanished pack look again.
 */
export async function consolidatePacks(
  fs: Fs,
  folder: string,
  known: KnownClasses = new Map(),
): Promise<PackFiles | null> {
  const group = await packsToJoin(fs, folder, known);
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
  for (const name of taken) {
    known.delete(name);
    if (name !== made.name) await removePack(fs, folder, name);
  }
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
