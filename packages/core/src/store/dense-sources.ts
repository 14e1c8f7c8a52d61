import type { GitObject, ObjectType } from '../domain/git-object.js';
import { asBuffer } from './as-buffer.js';
import { DeltaChains } from './pack-chain.js';
import { badPack, readEntry, readHead } from './pack-read.js';
import type { ReadPack } from './pack-sources.js';
import type { PackedEntry } from './pack-write.js';

/** Of all packs together. */
const maxCachedBytes = 16 * 1024 * 1024;
const maxObjectBytes = 64 * 1024 * 1024;

/** An object's id as 20 characters of one byte each: half the memory of hex, and quick to take out of a tree. */
export type Key = string;

/** An object as one of the packs has it. */
export interface Found {
  key: Key;
  /** What a delta states is only known once it is applied. */
  kind: ObjectType | 'delta';
  /** The base, where it is a delta. */
  base: Key | null;
  /** The size that its head states. */
  size: number;
  /** Head included. */
  entry: Uint8Array;
  /** What is deflated. */
  deflated: Uint8Array;
}

/** Every object of some packs, once. */
export class DenseSources {
  readonly #places = new Map<Key, { source: Source; entry: ReadPack['entries'][number] }>();

  constructor(packs: readonly ReadPack[]) {
    for (const pack of packs) {
      const source = new Source(pack, maxCachedBytes / packs.length);
      for (const entry of pack.entries) {
        const key = entry.oid.toString('latin1');
        if (!this.#places.has(key)) this.#places.set(key, { source, entry });
      }
    }
  }

  get size(): number {
    return this.#places.size;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  /** In the order of the packs, and in each as they stand. */
  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  find(key: Key): Found {
    const { source, entry } = this.#place(key);
    return source.find(key, entry);
  }

  /** @throws MeshError `protocol_error` for a delta that does not resolve. */
  async object(key: Key): Promise<GitObject> {
    const { source, entry } = this.#place(key);
    return source.object(entry.offset);
  }

  #place(key: Key): { source: Source; entry: ReadPack['entries'][number] } {
    const place = this.#places.get(key);
    if (place === undefined) throw new Error('an object was asked for that no pack has');
    return place;
  }
}

class Source {
  readonly #chains: DeltaChains;
  readonly #byOffset: Map<number, PackedEntry>;

  constructor({ entries }: ReadPack, maxBytes: number) {
    this.#byOffset = new Map(entries.map((entry) => [entry.offset, entry]));
    const offsets = new Map(entries.map(({ oid, offset }) => [oid.toString('hex'), offset]));
    this.#chains = new DeltaChains({
      maxCachedBytes: maxBytes,
      maxObjectBytes,
      entryAt: (offset) => {
        const entry = this.#byOffset.get(offset);
        if (entry === undefined) throw badPack('a delta points between two objects');
        const bytes = asBuffer(entry.bytes);
        return Promise.resolve(readEntry(bytes, { at: 0 }, { end: bytes.length, offset, maxObjectBytes }));
      },
      offsetOf: (base) => offsets.get(base) ?? null,
    });
  }

  find(key: Key, { bytes, offset }: ReadPack['entries'][number]): Found {
    const cursor = { at: 0 };
    const head = readHead(asBuffer(bytes), cursor, { end: bytes.length, offset });
    const { size } = head;
    const common = { key, size, entry: bytes, deflated: bytes.subarray(cursor.at) };
    if (head.kind === 'offset delta')
      return { ...common, kind: 'delta', base: this.#byOffset.get(head.base)?.oid.toString('latin1') ?? null };
    if (head.kind === 'ref delta')
      return { ...common, kind: 'delta', base: Buffer.from(head.base, 'hex').toString('latin1') };
    return { ...common, kind: head.kind, base: null };
  }

  async object(offset: number): Promise<GitObject> {
    const object = await this.#chains.object(offset);
    if (object === null) throw badPack('an object is a delta of one that is not there');
    return object;
  }
}
