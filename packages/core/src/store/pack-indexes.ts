import { join } from 'node:path';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import { IndexPages } from './index-pages.js';
import { PackIndex } from './pack-index.js';
import { isIndexName } from './pack-index-format.js';

/** Enough for a repack to get on; an index that cannot be read for good is damaged. */
const maxLooks = 10;

/** Where an object stands. */
export interface PackPlace {
  /** The pack's name, without `.pack`. */
  pack: string;
  offset: number;
}

/**
 * Which objects the packs hold, from their version 2 indexes. Packs may come and go at any time. Memory goes with the number of
 * packs, not with that of objects.
 */
export class PackIndexes {
  readonly #fs: Fs;
  readonly #folder: string;
  readonly #pages: IndexPages;
  #indexes = new Map<string, PackIndex>();
  /** The same in the order in which they are looked at: what is asked for is mostly new, and new packs are small. */
  #sorted: readonly PackIndex[] | null = null;

  constructor(fs: Fs, packFolder: string) {
    this.#fs = fs;
    this.#folder = packFolder;
    this.#pages = new IndexPages(fs);
  }

  /** False only when no pack held the object all the while. */
  async has(oid: Oid): Promise<boolean> {
    return (await this.find(oid)) !== null;
  }

  /** Null where no pack has it of those that were there at the last look. */
  async known(oid: Oid): Promise<PackPlace | null> {
    const found = await this.#first(Buffer.from(oid, 'hex'));
    return found === 'gone' ? null : found;
  }

  /** Null only when no pack held the object all the while. */
  async find(oid: Oid): Promise<PackPlace | null> {
    const key = Buffer.from(oid, 'hex');
    const known = await this.#first(key);
    if (known !== null && known !== 'gone') return known;
    // A repack adds the new pack before it removes the old one, but one look may miss both: until two agree.
    let before: string | null = null;
    for (let looks = 0; looks < maxLooks; looks++) {
      const listing = await this.refresh();
      const found = await this.#first(key);
      if (found !== null && found !== 'gone') return found;
      if (found !== 'gone' && listing !== null && listing === before) return null;
      before = found === 'gone' ? null : listing;
    }
    return null;
  }

  /** Everywhere that an object stands, as far as the packs were there when they were last looked at and still are. */
  async places(oid: Oid): Promise<PackPlace[]> {
    const key = Buffer.from(oid, 'hex');
    const places: PackPlace[] = [];
    for (const index of this.#inOrder()) {
      const offset = await index.find(key);
      if (offset === 'gone') this.#dropGone(index);
      else if (offset !== null) places.push({ pack: index.pack, offset });
    }
    return places;
  }

  /** Where it stands in one pack. */
  async knownIn(oid: string, pack: string): Promise<number | null> {
    const index = this.#indexes.get(nameOf(pack));
    if (index === undefined) return null;
    const offset = await index.find(Buffer.from(oid, 'hex'));
    if (offset === 'gone') this.#dropGone(index);
    return offset === 'gone' ? null : offset;
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
    for (const [name, index] of this.#indexes) if (next.get(name) !== index) index.drop();
    this.#indexes = next;
    this.#sorted = null;
    return next.size === names.length ? names.join(' ') : null;
  }

  /** The ids that begin with a byte, each once, as the packs were when they were last looked at; `gone` when one is no more. */
  async ids(byte: number): Promise<Set<Oid> | 'gone'> {
    const found = new Set<Oid>();
    for (const index of this.#inOrder()) {
      const ids = await index.ids(byte);
      if (ids === 'gone') {
        this.#dropGone(index);
        return ids;
      }
      for (const oid of ids) found.add(oid);
    }
    return found;
  }

  clear(): void {
    this.#indexes.clear();
    this.#sorted = null;
    this.#pages.clear();
  }

  /** Of a pack that was written here a moment ago: what is in it need not be read again. */
  add(pack: string, bytes: Uint8Array): void {
    const name = nameOf(pack);
    const index = PackIndex.written(this.#pages, pack, { path: join(this.#folder, name), bytes });
    if (index === null) return;
    this.#indexes.set(name, index);
    this.#sorted = null;
  }

  async #load(name: string): Promise<PackIndex | null> {
    return PackIndex.load(this.#pages, name.slice(0, -'.idx'.length), join(this.#folder, name));
  }

  /** `gone` where no pack has it and one is there no more, so that another may have what it had. */
  async #first(key: Buffer): Promise<PackPlace | null | 'gone'> {
    let isOneGone = false;
    for (const index of this.#inOrder()) {
      const found = index.find(key);
      // Most lookups wait for nothing, and a hop for each pack would cost more than they do.
      const offset = found instanceof Promise ? await found : found;
      if (typeof offset === 'number') return { pack: index.pack, offset };
      if (offset !== 'gone') continue;
      this.#dropGone(index);
      isOneGone = true;
    }
    return isOneGone ? 'gone' : null;
  }

  #inOrder(): readonly PackIndex[] {
    this.#sorted ??= [...this.#indexes.values()].sort((a, b) => a.count - b.count);
    return this.#sorted;
  }

  /** So that one of its name is read anew. */
  #dropGone(index: PackIndex): void {
    const name = nameOf(index.pack);
    if (this.#indexes.get(name) !== index) return;
    index.drop();
    this.#indexes.delete(name);
    this.#sorted = null;
  }
}

const nameOf = (pack: string): string => `${pack}.idx`;
