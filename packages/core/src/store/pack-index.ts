import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';

const magic = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const fanoutAt = 8;
const oidsAt = fanoutAt + 256 * 4;

/** Enough for a repack to get on; an index that cannot be read for good is damaged. */
const maxLooks = 10;

/** git's own new packs have a leading dot until all of their files are there. */
function isIndexName(name: string): boolean {
  return name.endsWith('.idx') && !name.startsWith('.');
}

/** Which objects the packs hold, from their version 2 indexes. Packs may come and go at any time. */
export class PackIndexes {
  readonly #fs: Fs;
  readonly #folder: string;
  #indexes = new Map<string, Buffer>();

  constructor(fs: Fs, packFolder: string) {
    this.#fs = fs;
    this.#folder = packFolder;
  }

  /** False only when no pack held the object all the while. */
  async has(oid: Oid): Promise<boolean> {
    const key = Buffer.from(oid, 'hex');
    if (this.#find(key)) return true;
    // A repack adds the new pack before it removes the old one, but one look may miss both: until two agree.
    let before: string | null = null;
    for (let looks = 0; looks < maxLooks; looks++) {
      const listing = await this.refresh();
      if (this.#find(key)) return true;
      if (listing !== null && listing === before) return false;
      before = listing;
    }
    return false;
  }

  /**
   * Brings the known indexes up to date with the folder. Gives the folder's packs, as a text to compare; null when one
   * of them could not be read, which is then about to appear or to vanish.
   */
  async refresh(): Promise<string | null> {
    const names = (await this.#fs.list(this.#folder)).filter(isIndexName).sort();
    const next = new Map<string, Buffer>();
    for (const name of names) {
      const index = this.#indexes.get(name) ?? (await this.#load(name));
      if (index !== null) next.set(name, index);
    }
    this.#indexes = next;
    return next.size === names.length ? names.join(' ') : null;
  }

  async #load(name: string): Promise<Buffer | null> {
    const bytes = await readIfThere(this.#fs, join(this.#folder, name));
    if (bytes === null) return null;
    const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    // One that is being written is read again the next time.
    if (index.length < oidsAt + 40 || !index.subarray(0, 8).equals(magic)) return null;
    return index.length >= oidsAt + countOf(index) * 28 + 40 ? index : null;
  }

  #find(key: Buffer): boolean {
    for (const index of this.#indexes.values()) if (holds(index, key)) return true;
    return false;
  }
}

const fanout = (index: Buffer, byte: number): number => index.readUInt32BE(fanoutAt + byte * 4);
const countOf = (index: Buffer): number => fanout(index, 255);

function holds(index: Buffer, key: Buffer): boolean {
  const first = key[0] ?? 0;
  let low = first === 0 ? 0 : fanout(index, first - 1);
  let high = Math.min(fanout(index, first), countOf(index));
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = oidsAt + middle * 20;
    const order = index.compare(key, 0, 20, at, at + 20);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}
