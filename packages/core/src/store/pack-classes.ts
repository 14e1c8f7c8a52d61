import { join } from 'node:path';
import { MeshError } from '../errors.js';
import { asBuffer } from './as-buffer.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { readHead } from './pack-read.js';
import { freePacks } from './pack-sources.js';

/** So many packs of one size class become one of the next. */
const packsOfAClass = 16;
/** Objects that a pack of each class has at most; a larger one is never touched. */
const classes = [256, 4_096, 65_536];
/** Larger ones are left alone on the way. */
const maxPackBytes = 4 * 1024 * 1024;
const emptyIndexBytes = 1_072;
const indexBytesAnObject = 28;
const packHeaderBytes = 12;
/** More than the head of any entry and the two bytes that begin what is deflated. */
const looked = 64;

/** What was seen of a pack, which never changes. */
export interface KnownPack {
  stem: string;
  bytes: number;
  /** -1: more objects than a pack that is joined has. */
  sizeClass: number;
  /** Null until somebody asked. */
  isDense: boolean | null;
}
export type KnownPacks = Map<string, KnownPack>;

/** The packs that nobody else looks after. Cheap with the same `known` each time, which forgets those that are gone. */
export async function knownPacks(fs: Fs, folder: string, known: KnownPacks): Promise<KnownPack[]> {
  const found: KnownPack[] = [];
  const stems = new Set(await freePacks(fs, folder));
  for (const stem of known.keys()) if (!stems.has(stem)) known.delete(stem);
  for (const stem of stems) {
    const pack = known.get(stem) ?? (await look(fs, folder, stem));
    if (pack === null) continue;
    known.set(stem, pack);
    found.push(pack);
  }
  return found;
}

async function look(fs: Fs, folder: string, stem: string): Promise<KnownPack | null> {
  const [pack, index] = [await fs.stat(join(folder, `${stem}.pack`)), await fs.stat(join(folder, `${stem}.idx`))];
  if (pack === null || index === null) return null;
  const objects = (index.size - emptyIndexBytes) / indexBytesAnObject;
  return { stem, bytes: pack.size, sizeClass: classes.findIndex((most) => objects <= most), isDense: null };
}

/** Of these, the ones of the smallest size class that has enough of them to be joined; null where none has. */
export async function enoughOfAClass(
  packs: readonly KnownPack[],
  holds: (pack: KnownPack) => Promise<boolean>,
): Promise<KnownPack[] | null> {
  for (const [sizeClass] of classes.entries()) {
    const all = packs.filter((pack) => pack.sizeClass === sizeClass && pack.bytes <= maxPackBytes);
    // Most of the time no pack has to be opened for this.
    if (all.length < packsOfAClass) continue;
    const group: KnownPack[] = [];
    for (const pack of all) if (await holds(pack)) group.push(pack);
    if (group.length >= packsOfAClass) return group;
  }
  return null;
}

/** zlib notes how hard it tried in the two top bits of the second byte; 3 is its best, which nothing else here asks for. */
const best = 3;

/**
 * Whether `densePack` made it: its first object is one that was deflated as well as zlib can. Fetches, commits and git
 * with its own settings take less time for it.
 */
export async function isDense(fs: Fs, folder: string, pack: KnownPack): Promise<boolean> {
  pack.isDense ??= await seemsDense(fs, join(folder, `${pack.stem}.pack`));
  return pack.isDense;
}

async function seemsDense(fs: Fs, path: string): Promise<boolean> {
  try {
    const file = await fs.open(path, 'read');
    try {
      return isBest(await file.read(packHeaderBytes, looked));
    } finally {
      await file.close();
    }
  } catch (error) {
    // Gone meanwhile, or damaged: whoever reads all of it finds that out.
    if (isErrno(error, 'ENOENT') || error instanceof MeshError) return false;
    throw error;
  }
}

/** Whether the entry that begins there was deflated as well as zlib can. */
export function isBest(entry: Uint8Array): boolean {
  const bytes = asBuffer(entry);
  const cursor = { at: 0 };
  readHead(bytes, cursor, { end: bytes.length, offset: Number.MAX_SAFE_INTEGER });
  return (bytes[cursor.at + 1] ?? 0) >> 6 === best;
}
