import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { indexedObjects, isIndexName } from './pack-index.js';
import { publishPack } from './pack-publish.js';
import { joinPacked } from './pack-write.js';
import type { PackFiles, PackedEntry } from './pack-write.js';
import { isSummed } from './summed.js';

/** So many packs of one size class become one of the next. */
const packsOfAClass = 16;
/** Objects that a pack of each class has at most; a larger one is never touched. */
const classes = [256, 4_096, 65_536];
/** Larger ones are left alone on the way. */
const maxPackBytes = 4 * 1024 * 1024;
/** Larger ones are left alone by {@link joinAllPacks}, too. */
const maxWholeBytes = 32 * 1024 * 1024;
/** One run reads so much at most, but for the last pack: a run needs twice that of memory, and holds the lock for a second or so. */
const maxRunBytes = 32 * 1024 * 1024;
const emptyIndexBytes = 1_072;
const indexBytesAnObject = 28;
const packHeaderBytes = 12;
/** What git or a user put beside a pack says that it is looked after by them. */
const ownFiles = new Set(['pack', 'idx', 'rev']);

/** The size class of each pack that was looked at; a pack never changes. -1: not one that is joined. */
export type KnownClasses = Map<string, number>;

/**
 * The packs of the smallest size class that has enough of them to be joined; null where none has, or where somebody else
 * looks after the packs. Cheap with the same `known` each time.
 */
export async function packsToJoin(fs: Fs, folder: string, known: KnownClasses): Promise<string[] | null> {
  const stems = await freePacks(fs, folder);
  if (stems.length < packsOfAClass) return null;
  const groups = classes.map((): string[] => []);
  for (const stem of stems) {
    const size = known.get(stem) ?? (await classOf(fs, folder, stem));
    known.set(stem, size);
    groups[size]?.push(stem);
  }
  return groups.find((group) => group.length >= packsOfAClass) ?? null;
}

/** The packs that nobody else looks after. */
export async function freePacks(fs: Fs, folder: string): Promise<string[]> {
  const names = await fs.list(folder);
  // An index over several packs names each of them: git's own maintenance is at work here.
  if (names.includes('multi-pack-index')) return [];
  const kept = new Set(names.filter((name) => !ownFiles.has(endOf(name))).map(stemOf));
  return names
    .filter(isIndexName)
    .map(stemOf)
    .filter((stem) => !kept.has(stem));
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
  return group === null ? null : joinGroup(fs, folder, { group, known });
}

/**
 * Joins as many as one run may of all packs, whatever their size class, the smallest first: to be called until it gives
 * null. Only under the store lock, like {@link consolidatePacks}.
 */
export async function joinAllPacks(fs: Fs, folder: string, known: KnownClasses = new Map()): Promise<PackFiles | null> {
  const sized: { stem: string; size: number }[] = [];
  for (const stem of await freePacks(fs, folder)) {
    const size = (await fs.stat(join(folder, `${stem}.pack`)))?.size;
    if (size !== undefined && size <= maxWholeBytes) sized.push({ stem, size });
  }
  sized.sort((a, b) => a.size - b.size);
  return sized.length < 2 ? null : joinGroup(fs, folder, { group: sized.map(({ stem }) => stem), known });
}

async function joinGroup(
  fs: Fs,
  folder: string,
  { group, known }: { group: readonly string[]; known: KnownClasses },
): Promise<PackFiles | null> {
  const packs: ReadPack[] = [];
  let bytes = 0;
  for (const name of group) {
    const read = await readPack(fs, folder, name);
    if (read === null) continue;
    packs.push(read);
    bytes += read.bytes;
    if (bytes >= maxRunBytes && packs.length > 1) break;
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
  bytes: number;
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
  const pack = asBuffer(await readIfThere(fs, join(folder, `${name}.pack`)));
  const index = await readIfThere(fs, join(folder, `${name}.idx`));
  const placed = index === null ? null : indexedObjects(index);
  if (pack === null || index === null || placed === null) return null;
  // What an index leaves out or misnames would be lost with its pack: each must be whole, and tell of the other.
  if (!isSummed(pack) || !isSummed(index) || !Buffer.from(index.subarray(-40, -20)).equals(pack.subarray(-20)))
    return null;
  if (placed.length !== pack.readUInt32BE(8) || placed[0]?.offset !== packHeaderBytes) return null;
  const read: ReadPack = { name, entries: [], hasDeltas: false, bytes: pack.length };
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

function asBuffer(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

const stemOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const endOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
