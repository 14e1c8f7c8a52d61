import { join } from 'node:path';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { asBuffer } from './as-buffer.js';
import { makeDurableFolder, readIfThere, writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { indexMagic, indexedObjects } from './pack-index-format.js';
import { makePackIndex } from './pack-index-write.js';
import { readEntry } from './pack-read.js';
import type { Objects } from './ports.js';
import { isSummed } from './summed.js';

const packName = /^(pack-[0-9a-f]{40})\.(pack|idx)$/;
const sumBytes = 20;
/** Larger indexes are summed only when there is reason to. */
const maxSummedBytes = 64 * 1024;
const maxObjectBytes = 32 * 1024 * 1024;

export interface PackPlaces {
  fs: Fs;
  /** `objects/pack`. */
  folder: string;
  /** Where damaged files are put, for whoever wants to look at them. */
  aside: string;
}

/** Packs that a look at their ends and at small indexes shows to be damaged, or `all`, by name without an ending. Cheap. */
export async function suspectPacks(
  { fs, folder }: Pick<PackPlaces, 'fs' | 'folder'>,
  { all }: { all: boolean },
): Promise<string[]> {
  const names = new Set(await fs.list(folder));
  const stems = new Set<string>();
  for (const name of names) {
    const stem = packName.exec(name)?.[1];
    if (stem !== undefined) stems.add(stem);
  }
  const suspect: string[] = [];
  for (const stem of stems) {
    const isWhole = names.has(`${stem}.pack`) && names.has(`${stem}.idx`);
    if (all || !isWhole || !(await endsMatch(fs, join(folder, stem)))) suspect.push(stem);
  }
  return suspect;
}

/** The index states the checksum that ends the pack. */
async function endsMatch(fs: Fs, path: string): Promise<boolean> {
  try {
    const pack = await ends(fs, `${path}.pack`, sumBytes);
    const index = await ends(fs, `${path}.idx`, 2 * sumBytes);
    const isSmall = index.size <= maxSummedBytes;
    return (
      (!isSmall || isSummed(await fs.readFile(`${path}.idx`))) &&
      Buffer.from(pack.head).toString('latin1', 0, 4) === 'PACK' &&
      Buffer.from(index.head).subarray(0, 8).equals(indexMagic) &&
      Buffer.from(index.tail.subarray(0, sumBytes)).equals(pack.tail)
    );
  } catch (error) {
    // Taken away since the folder was listed: whoever needs it looks again.
    if (isErrno(error, 'ENOENT')) return true;
    throw error;
  }
}

async function ends(fs: Fs, path: string, tail: number): Promise<{ head: Uint8Array; tail: Uint8Array; size: number }> {
  const file = await fs.open(path, 'read');
  try {
    const { size } = await file.stat();
    return { size, head: await file.read(0, 12), tail: await file.read(Math.max(0, size - tail), tail) };
  } finally {
    await file.close();
  }
}

/**
 * Mends packs that are suspect. A whole pack gets its index again. Of a damaged one, what can be read is written to a new
 * pack, and then its files are put aside, so that what is fetched again is found. Only under the store lock. Gives the
 * objects that are lost by it, as far as their ids are known, and whether any are.
 */
export async function mendPacks(
  places: PackPlaces,
  objects: Objects,
  stems: readonly string[],
): Promise<{ setAside: string[]; lost: Oid[] }> {
  const setAside: string[] = [];
  const lost: Oid[] = [];
  for (const stem of stems) {
    const { fs, folder } = places;
    const pack = await readIfThere(fs, join(folder, `${stem}.pack`));
    const index = await readIfThere(fs, join(folder, `${stem}.idx`));
    if (pack !== null && (await reindexed(places, stem, pack, index))) continue;
    if (pack === null && index === null) continue;
    // The publisher of a pack without an index may be at work on it.
    if (index === null && !(await isOld(fs, join(folder, `${stem}.pack`)))) continue;
    const named = index === null ? [] : (indexedObjects(index) ?? []).map(({ oid }) => oid.toString('hex') as Oid);
    const saved = await salvage(objects, named, pack);
    if (saved.length > 0) await objects.write(saved);
    await putAside(places, stem);
    setAside.push(stem);
    await objects.forget();
    for (const oid of named) if (!(await objects.has(oid))) lost.push(oid);
  }
  if (stems.length > 0) await objects.forget();
  return { setAside, lost };
}

/** True where the pack is whole: its index is as it should be then. */
async function reindexed(
  { fs, folder }: PackPlaces,
  stem: string,
  pack: Uint8Array,
  index: Uint8Array | null,
): Promise<boolean> {
  try {
    const made = await makePackIndex(pack, { maxObjectBytes });
    if (!('index' in made)) return false;
    // One with its sum right may still leave an object out.
    const isRight = index !== null && Buffer.from(made.index).equals(index);
    if (!isRight) await writeDurable(fs, join(folder, `${stem}.idx`), made.index, { mode: 0o444 });
    return true;
  } catch (error) {
    if (error instanceof MeshError && error.errorName === 'protocol_error') return false;
    throw error;
  }
}

async function isOld(fs: Fs, path: string): Promise<boolean> {
  const stat = await fs.stat(path);
  return stat !== null && Date.now() - stat.mtimeMs > 10 * 60_000;
}

async function salvage(objects: Objects, named: readonly Oid[], pack: Uint8Array | null): Promise<GitObject[]> {
  const saved: GitObject[] = [];
  for (const oid of named) {
    try {
      saved.push(await objects.read(oid));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return named.length > 0 || pack === null ? saved : wholeAtItsBeginning(pack);
}

/** Without an index nothing tells where objects begin, but they stand one behind the other. */
function wholeAtItsBeginning(pack: Uint8Array): GitObject[] {
  const bytes = asBuffer(pack);
  const found: GitObject[] = [];
  const cursor = { at: 12 };
  try {
    while (cursor.at < bytes.length) {
      const entry = readEntry(bytes, cursor, { end: bytes.length, offset: cursor.at, maxObjectBytes });
      if (entry.kind !== 'offset delta' && entry.kind !== 'ref delta')
        found.push({ type: entry.kind, data: entry.data });
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  }
  return found;
}

async function putAside({ fs, folder, aside }: PackPlaces, stem: string): Promise<void> {
  await makeDurableFolder(fs, aside);
  // Do not reorder: git takes an index without its pack for damage.
  for (const end of ['idx', 'rev', 'pack']) {
    try {
      await fs.rename(join(folder, `${stem}.${end}`), join(aside, `${stem}.${end}`));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
  await fs.syncFolder(folder);
}
