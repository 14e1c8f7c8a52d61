import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { asBuffer } from './as-buffer.js';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { indexedObjects, isIndexName } from './pack-index-format.js';
import type { PackedEntry } from './pack-write.js';
import { isSummed } from './summed.js';

const packHeaderBytes = 12;
/** What git or a user put beside a pack says that it is looked after by them. */
const ownFiles = new Set(['pack', 'idx', 'rev']);

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

/** A pack as it is on the disk, whole and checked. */
export interface ReadPack {
  name: string;
  /** In the order in which they stand in it. */
  entries: (PackedEntry & { offset: number })[];
  hasDeltas: boolean;
  pack: Buffer;
}

/**
 * Those of these packs that are whole, in this order, for as long as they have no more than `maxBytes` together; two at
 * least. A run over them needs twice that of memory.
 */
export async function readPacks(
  fs: Fs,
  folder: string,
  { stems, maxBytes }: { stems: readonly string[]; maxBytes: number },
): Promise<ReadPack[]> {
  const packs: ReadPack[] = [];
  let bytes = 0;
  for (const stem of stems) {
    const read = await readPack(fs, folder, stem);
    if (read === null) continue;
    packs.push(read);
    bytes += read.pack.length;
    if (bytes >= maxBytes && packs.length > 1) break;
  }
  return packs;
}

/** Null for one that is damaged or gone. */
async function readPack(fs: Fs, folder: string, name: string): Promise<ReadPack | null> {
  const bytes = await readIfThere(fs, join(folder, `${name}.pack`));
  const index = await readIfThere(fs, join(folder, `${name}.idx`));
  const placed = index === null ? null : indexedObjects(index);
  if (bytes === null || index === null || placed === null) return null;
  const pack = asBuffer(bytes);
  // What an index leaves out or misnames would be lost with its pack: each must be whole, and tell of the other.
  if (!isSummed(pack) || !isSummed(index) || !Buffer.from(index.subarray(-40, -20)).equals(pack.subarray(-20)))
    return null;
  if (placed.length !== pack.readUInt32BE(8) || placed[0]?.offset !== packHeaderBytes) return null;
  const read: ReadPack = { name, entries: [], hasDeltas: false, pack };
  for (const [n, { oid, crc, offset }] of placed.entries()) {
    const entry = pack.subarray(offset, placed[n + 1]?.offset ?? pack.length - 20);
    // What is damaged stays where git fsck names it.
    if (crc32(entry) !== crc) return null;
    read.hasDeltas ||= isDelta(entry);
    read.entries.push({ oid, crc, bytes: entry, offset });
  }
  return read;
}

function isDelta(entry: Uint8Array): boolean {
  const type = ((entry[0] ?? 0) >> 4) & 7;
  return type === 6 || type === 7;
}

/** Takes a pack away that another one has the objects of. Only under the store lock. */
export async function removePack(fs: Fs, folder: string, name: string): Promise<void> {
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
