import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';

const magic = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const fanoutAt = 8;
const oidsAt = fanoutAt + 256 * 4;

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
    // A repack adds the new pack before it removes the old one, but one listing may miss both: look until two agree.
    for (let before = ''; ;) {
      const listing = await this.refresh();
      if (this.#find(key)) return true;
      if (listing === before || listing === '') return false;
      before = listing;
    }
  }

  /** Brings the known indexes up to date with the folder. Gives the folder's packs, as a text to compare. */
  async refresh(): Promise<string> {
    const names = (await this.#fs.list(this.#folder)).filter((name) => name.endsWith('.idx')).sort();
    const next = new Map<string, Buffer>();
    for (const name of names) {
      const index = this.#indexes.get(name) ?? (await this.#load(name));
      if (index !== null) next.set(name, index);
    }
    this.#indexes = next;
    return names.join(' ');
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
