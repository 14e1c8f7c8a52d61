import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import { asBuffer } from './as-buffer.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import type { Indexed } from './pack-index-write.js';

/** Version 2. */
export const indexMagic: Buffer = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const fanoutAt = 8;
const oidsAt = fanoutAt + 256 * 4;

/** Enough for a repack to get on; an index that cannot be read for good is damaged. */
const maxLooks = 10;

/** git's own new packs have a leading dot until all of their files are there. */
export function isIndexName(name: string): boolean {
  return name.endsWith('.idx') && !name.startsWith('.');
}

/** Where an object stands. */
export interface PackPlace {
  /** The pack's name, without `.pack`. */
  pack: string;
  offset: number;
  /** Where the next object or the trailer begins; null in the last of a pack whose length the index does not tell. */
  next: number | null;
}

/** Which objects the packs hold, from their version 2 indexes. Packs may come and go at any time. */
export class PackIndexes {
  readonly #fs: Fs;
  readonly #folder: string;
  #indexes = new Map<string, PackIndex>();

  constructor(fs: Fs, packFolder: string) {
    this.#fs = fs;
    this.#folder = packFolder;
  }

  /** False only when no pack held the object all the while. */
  async has(oid: Oid): Promise<boolean> {
    return (await this.find(oid)) !== null;
  }

  /** Null only when no pack held the object all the while. */
  async find(oid: Oid): Promise<PackPlace | null> {
    const key = Buffer.from(oid, 'hex');
    const known = this.#find(key);
    if (known !== null) return known;
    // A repack adds the new pack before it removes the old one, but one look may miss both: until two agree.
    let before: string | null = null;
    for (let looks = 0; looks < maxLooks; looks++) {
      const listing = await this.refresh();
      const found = this.#find(key);
      if (found !== null) return found;
      if (listing !== null && listing === before) return null;
      before = listing;
    }
    return null;
  }

  /** Everywhere that an object stands, as the indexes were when they were last looked at. */
  places(oid: Oid): PackPlace[] {
    const key = Buffer.from(oid, 'hex');
    return [...this.#indexes.values()].map((index) => index.find(key)).filter((place) => place !== null);
  }

  /** The same in one pack. */
  known(oid: string, pack: string): PackPlace | null {
    const index = this.#indexes.get(`${pack}.idx`);
    return index?.find(Buffer.from(oid, 'hex')) ?? null;
  }

  /** Where the object at an offset ends: see {@link PackPlace.next}. */
  at(pack: string, offset: number): PackPlace | null {
    return this.#indexes.get(`${pack}.idx`)?.at(offset) ?? null;
  }

  /**
   * Brings the known indexes up to date with the folder. Gives the folder's packs, as a text to compare; null when one
   * of them could not be read, which is then about to appear or to vanish.
   */
  async refresh(): Promise<string | null> {
    const names = (await this.#fs.list(this.#folder)).filter(isIndexName).sort();
    const next = new Map<string, PackIndex>();
    for (const name of names) {
      const index = this.#indexes.get(name) ?? (await this.#load(name));
      if (index !== null) next.set(name, index);
    }
    this.#indexes = next;
    return next.size === names.length ? names.join(' ') : null;
  }

  /** All that they hold, as they were when they were last looked at. */
  ids(): Oid[] {
    return [...this.#indexes.values()].flatMap((index) => index.ids());
  }

  clear(): void {
    this.#indexes.clear();
  }

  /** Of a pack that was written here a moment ago: what is in it need not be read again. */
  add(pack: string, index: Uint8Array): void {
    const bytes = wholeIndex(index);
    if (bytes !== null) this.#indexes.set(`${pack}.idx`, new PackIndex(pack, bytes));
  }

  async #load(name: string): Promise<PackIndex | null> {
    const bytes = await readIfThere(this.#fs, join(this.#folder, name));
    const index = bytes === null ? null : wholeIndex(bytes);
    return index === null ? null : new PackIndex(name.slice(0, -'.idx'.length), index);
  }

  #find(key: Buffer): PackPlace | null {
    for (const index of this.#indexes.values()) {
      const place = index.find(key);
      if (place !== null) return place;
    }
    return null;
  }
}

/** One version 2 index. */
class PackIndex {
  readonly #pack: string;
  readonly #bytes: Buffer;
  /** In rising order; worked out when an object is first read. */
  #offsets: Float64Array | null = null;

  constructor(pack: string, bytes: Buffer) {
    this.#pack = pack;
    this.#bytes = bytes;
  }

  find(key: Buffer): PackPlace | null {
    const n = positionOf(this.#bytes, key);
    return n === null ? null : this.#place(offsetOf(this.#bytes, n));
  }

  ids(): Oid[] {
    // Twenty bytes in hex are an id.
    return Array.from({ length: countOf(this.#bytes) }, (_, n) =>
      this.#bytes.toString('hex', oidsAt + n * 20, oidsAt + n * 20 + 20),
    ) as Oid[];
  }

  /** Null where no object begins at that offset. */
  at(offset: number): PackPlace | null {
    const offsets = this.#sorted();
    return offsets[lowerBound(offsets, offset)] === offset ? this.#place(offset) : null;
  }

  #place(offset: number): PackPlace {
    const offsets = this.#sorted();
    return { pack: this.#pack, offset, next: offsets[lowerBound(offsets, offset) + 1] ?? null };
  }

  #sorted(): Float64Array {
    this.#offsets ??= Float64Array.from({ length: countOf(this.#bytes) }, (_, n) => offsetOf(this.#bytes, n)).sort();
    return this.#offsets;
  }
}

/** Null for one that is no version 2 index, or is being written and read again the next time. */
function wholeIndex(bytes: Uint8Array): Buffer | null {
  const index = asBuffer(bytes);
  if (index.length < oidsAt + 40 || !index.subarray(0, 8).equals(indexMagic)) return null;
  return index.length >= oidsAt + countOf(index) * 28 + 40 ? index : null;
}

/** All of an index, in the order of the offsets; null for a damaged one. */
export function indexedObjects(bytes: Uint8Array): Indexed[] | null {
  const index = wholeIndex(bytes);
  if (index === null) return null;
  const count = countOf(index);
  const objects = Array.from({ length: count }, (_, n) => ({
    oid: index.subarray(oidsAt + n * 20, oidsAt + n * 20 + 20),
    crc: index.readUInt32BE(oidsAt + count * 20 + n * 4),
    offset: offsetOf(index, n),
  }));
  return objects.sort((a, b) => a.offset - b.offset);
}

const fanout = (index: Buffer, byte: number): number => index.readUInt32BE(fanoutAt + byte * 4);
const countOf = (index: Buffer): number => fanout(index, 255);

function positionOf(index: Buffer, key: Buffer): number | null {
  const first = key[0] ?? 0;
  let low = first === 0 ? 0 : fanout(index, first - 1);
  let high = Math.min(fanout(index, first), countOf(index));
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = oidsAt + middle * 20;
    const order = index.compare(key, 0, 20, at, at + 20);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return null;
}

/** After the ids and the checksums; the top bit says that the number names a place in the table of large offsets. */
function offsetOf(index: Buffer, n: number): number {
  const count = countOf(index);
  const offset = index.readUInt32BE(oidsAt + count * 24 + n * 4);
  if (offset < 2 ** 31) return offset;
  const large = oidsAt + count * 28 + (offset - 2 ** 31) * 8;
  // An index that is damaged there names no place in the pack.
  return large + 8 > index.length ? -1 : Number(index.readBigUInt64BE(large));
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
