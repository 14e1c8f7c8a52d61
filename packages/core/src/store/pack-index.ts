import type { Oid } from '../domain/ids.js';
import { asBuffer } from './as-buffer.js';
import type { Found, IndexFile, IndexPages, PagePlace } from './index-pages.js';
import { IndexTable } from './index-table.js';
import {
  countOf,
  fanoutOf,
  largeOffsetBytes,
  noOffset,
  offsetBytes,
  offsetIn,
  oidBytes,
  sumsBytes,
  tablesOf,
} from './pack-index-format.js';

/** An index up to this size is read at once: the head, the ids and the offsets of some 500 objects. */
const smallIndexBytes = 16 * 1024;

/** Where the ids that begin with the same byte stand: from `low` to before `high`. */
interface Bucket {
  low: number;
  high: number;
}

/** One version 2 index, of which only the fan-out is kept. Whatever reads it gives `gone` once it is there no more as it was. */
export class PackIndex {
  /** The pack's name, without `.pack`. */
  readonly pack: string;
  /** How many objects it names. */
  readonly count: number;
  readonly #pages: IndexPages;
  readonly #file: IndexFile;
  readonly #fanout: Uint32Array;
  readonly #oids: IndexTable;
  readonly #offsets: IndexTable;
  readonly #large: IndexTable;

  private constructor(pack: string, pages: IndexPages, { file, fanout }: { file: IndexFile; fanout: Uint32Array }) {
    this.pack = pack;
    this.count = countOf(fanout);
    this.#pages = pages;
    this.#file = file;
    this.#fanout = fanout;
    const { oids, offsets, large } = tablesOf(this.count);
    const largeCount = Math.max(0, Math.floor((file.size - sumsBytes - large) / largeOffsetBytes));
    this.#oids = new IndexTable({ firstPage: 0, at: oids, width: oidBytes, length: this.count });
    this.#offsets = new IndexTable({ firstPage: 2 ** 24, at: offsets, width: offsetBytes, length: this.count });
    this.#large = new IndexTable({ firstPage: 2 ** 25, at: large, width: largeOffsetBytes, length: largeCount });
  }

  /** Null for one that is not there, is damaged, or is being written and read again the next time. */
  static async load(pages: IndexPages, pack: string, path: string): Promise<PackIndex | null> {
    const looked = await pages.look(path, smallIndexBytes);
    return looked === null ? null : PackIndex.#of(pages, pack, looked);
  }

  /** Of a pack that was written here a moment ago: what is in it need not be read again. */
  static written(
    pages: IndexPages,
    pack: string,
    { path, bytes }: { path: string; bytes: Uint8Array },
  ): PackIndex | null {
    const head = bytes.subarray(0, smallIndexBytes);
    return PackIndex.#of(pages, pack, { file: pages.written(path, bytes.length), head });
  }

  static #of(pages: IndexPages, pack: string, { file, head }: { file: IndexFile; head: Uint8Array }): PackIndex | null {
    const fanout = fanoutOf(head, file.size);
    if (fanout === null) return null;
    const index = new PackIndex(pack, pages, { file, fanout });
    if (head.length === file.size) index.#keep(head);
    return index;
  }

  /** Where the object begins in the pack; null for one that is not in it. At once where all that it takes is in memory. */
  find(key: Buffer): number | null | Promise<number | null | 'gone'> {
    const look = (): Found<number | null> => this.#find(key);
    const found = look();
    return 'value' in found ? found.value : this.#pages.looking(this.#file, look);
  }

  /** The ids that begin with a byte. */
  async ids(byte: number): Promise<Oid[] | 'gone'> {
    const { low, high } = this.#bucket(byte);
    const found: Oid[] = [];
    return this.#pages.looking(this.#file, () => {
      for (let n = low + found.length; n < high;) {
        const place = this.#oids.pageOf(n);
        const page = this.#page(place);
        if (page === null) return { needed: place };
        const { end } = this.#oids.entriesOf(place);
        for (; n < Math.min(high, end); n++) {
          const at = this.#oids.within(place, n);
          // Twenty bytes in hex are an id.
          found.push(page.toString('hex', at, at + oidBytes) as Oid);
        }
      }
      return { value: found };
    });
  }

  /** Lets go of what is kept of it. */
  drop(): void {
    this.#pages.drop(this.#file);
  }

  #find(key: Buffer): Found<number | null> {
    const position = this.#positionOf(key, this.#bucket(key[0] ?? 0));
    if ('needed' in position || position.value === null) return position;
    const entry = this.#entry(this.#offsets, position.value);
    if ('needed' in entry) return entry;
    const { page, at } = entry.value;
    const offset = offsetIn(page.readUInt32BE(at));
    return 'offset' in offset ? { value: offset.offset } : this.#largeOffset(offset.large);
  }

  #largeOffset(n: number): Found<number> {
    if (n >= this.#large.length) return { value: noOffset };
    const entry = this.#entry(this.#large, n);
    return 'needed' in entry ? entry : { value: Number(entry.value.page.readBigUInt64BE(entry.value.at)) };
  }

  #positionOf(key: Buffer, { low, high }: Bucket): Found<number | null> {
    // Ids are spread evenly: where it would stand is mostly in the page where it stands.
    let guess = low + Math.floor(((high - low) * key.readUIntBE(1, 4)) / 2 ** 32);
    while (low < high) {
      const place = this.#oids.pageOf(guess);
      const page = this.#page(place);
      if (page === null) return { needed: place };
      const entries = this.#oids.entriesOf(place);
      const [first, end] = [Math.max(low, entries.first), Math.min(high, entries.end)];
      let [from, to] = [first, end];
      while (from < to) {
        const middle = (from + to) >>> 1;
        const at = this.#oids.within(place, middle);
        const order = page.compare(key, 0, oidBytes, at, at + oidBytes);
        if (order === 0) return { value: middle };
        if (order < 0) from = middle + 1;
        else to = middle;
      }
      if (from === first) high = first;
      else if (from === end) low = end;
      else break;
      guess = (low + high) >>> 1;
    }
    return { value: null };
  }

  #bucket(byte: number): Bucket {
    const low = byte === 0 ? 0 : (this.#fanout[byte - 1] ?? 0);
    return { low, high: Math.min(this.#fanout[byte] ?? 0, this.count) };
  }

  #entry(table: IndexTable, n: number): Found<{ page: Buffer; at: number }> {
    const place = table.pageOf(n);
    const page = this.#page(place);
    return page === null ? { needed: place } : { value: { page, at: table.within(place, n) } };
  }

  #page(place: PagePlace): Buffer | null {
    const page = this.#pages.kept(this.#file, place);
    return page === undefined ? null : asBuffer(page);
  }

  /** The pages of a small one that is in memory whole. */
  #keep(whole: Uint8Array): void {
    for (const table of [this.#oids, this.#offsets, this.#large]) {
      if (table.length === 0) continue;
      const place = table.pageOf(0);
      const { at, length } = place;
      // A copy (a Buffer's own slice is none), so that nothing else of the file is kept with it.
      this.#pages.keep(this.#file, place, new Uint8Array(whole.subarray(at, at + length)));
    }
  }
}
