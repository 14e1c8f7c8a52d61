import { densePack } from './dense-pack.js';
import type { Fs } from './fs.js';
import { enoughOfAClass, isDense, knownPacks } from './pack-classes.js';
import type { KnownPack, KnownPacks } from './pack-classes.js';
import { Pace } from './pace.js';
import { publishPack } from './pack-publish.js';
import { readPacks, removePack } from './pack-sources.js';
import type { PackFiles } from './pack-write.js';

/** Larger packs are left alone. */
const maxPackBytes = 32 * 1024 * 1024;
/** One run over dense packs reads so much at most, but for the last pack. */
const maxRunBytes = 32 * 1024 * 1024;

/** A dense pack, and what it is to replace. */
export interface Densified {
  made: PackFiles;
  packs: readonly string[];
  /** All packs that were there then, but for large ones. */
  seen: readonly string[];
}

export interface DensifyBounds {
  /** All packs, however few and small; else those that commits and fetches have no more use for. */
  whole: boolean;
  /** One step in the background reads so much at most of packs that are not dense, but for the last pack. */
  maxBytes: number;
  /** For how long it works at a time, and how much it leaves to others between, in milliseconds. */
  sliceMs: number;
  pauseMs: number;
  /** Ends it with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes a dense pack where one is due; null where none is. Needs no lock and changes nothing: what becomes of the packs
 * meanwhile is seen by {@link replacePacks}.
 */
export async function densify(
  fs: Fs,
  folder: string,
  { known, whole, maxBytes, ...pace }: DensifyBounds & { known: KnownPacks },
): Promise<Densified | null> {
  const packs = (await knownPacks(fs, folder, known)).filter(({ bytes }) => bytes <= maxPackBytes);
  packs.sort((a, b) => a.bytes - b.bytes);
  const loose: KnownPack[] = [];
  // The smallest class is for commits to join: of these few objects others would soon have to be made again.
  for (const pack of packs) if ((whole || pack.sizeClass !== 0) && !(await isDense(fs, folder, pack))) loose.push(pack);
  const group = whole ? (packs.length > 1 ? packs : loose) : loose.length > 0 ? loose : await manyDense(packs);
  const most = whole || loose.length === 0 ? maxRunBytes : maxBytes;
  const sources = await readPacks(fs, folder, { stems: group.map(({ stem }) => stem), maxBytes: most });
  const hasNew = sources.some(({ name }) => loose.some(({ stem }) => stem === name));
  if (sources.length === 0 || (sources.length === 1 && !hasNew)) return null;
  return {
    made: await densePack(sources, new Pace(pace)),
    packs: sources.map(({ name }) => name),
    seen: packs.map(({ stem }) => stem),
  };

  async function manyDense(all: readonly KnownPack[]): Promise<readonly KnownPack[]> {
    return (await enoughOfAClass(all, (pack) => isDense(fs, folder, pack))) ?? [];
  }
}

/**
 * Publishes the dense pack and removes those it was made of. Only under the store lock. A pack that somebody joined
 * meanwhile is gone already; its objects are here once more then, until the next run.
 */
export async function replacePacks(
  fs: Fs,
  folder: string,
  { densified, known }: { densified: Densified; known: KnownPacks },
): Promise<void> {
  const { made, packs } = densified;
  await publishPack(fs, folder, made);
  for (const name of packs) {
    known.delete(name);
    if (name !== made.name) await removePack(fs, folder, name);
  }
}
