import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflate, deflateSync } from 'node:zlib';
import type { ObjectType } from '../domain/git-object.js';
import type { Key } from './dense-sources.js';
import { smallObjectBytes } from './deflated.js';
import { entryHeader, packHeader, packTypes } from './pack-write.js';

const deflateAsync = promisify(deflate);
const offsetDelta = 6;

/** The entries of a pack as they are added, each with how many deltas stand below it. */
export class DenseWriter {
  readonly #parts: Uint8Array[];
  readonly #placed = new Map<Key, { offset: number; depth: number }>();
  #offset: number;

  constructor(count: number) {
    const header = packHeader(count);
    this.#parts = [header];
    this.#offset = header.length;
  }

  /** How many deltas a reader goes through for it; null for what is not there yet. */
  depth(key: Key): number | null {
    return this.#placed.get(key)?.depth ?? null;
  }

  /** An entry that is no delta, head included. */
  addWhole(key: Key, entry: Uint8Array): void {
    this.#add(key, 0, [entry]);
  }

  /** A delta of what was added before. */
  addDelta(key: Key, base: Key, delta: { size: number; deflated: Uint8Array }): void {
    const below = this.#placed.get(base);
    if (below === undefined) throw new Error('a delta was added before its base');
    this.#add(key, below.depth + 1, [
      entryHeader(offsetDelta, delta.size),
      distance(this.#offset - below.offset),
      delta.deflated,
    ]);
  }

  /** The whole pack. */
  pack(): Uint8Array {
    const hash = createHash('sha1');
    for (const part of this.#parts) hash.update(part);
    return Buffer.concat([...this.#parts, hash.digest()]);
  }

  #add(key: Key, depth: number, parts: readonly Uint8Array[]): void {
    if (this.#placed.has(key)) throw new Error('an object was added twice');
    this.#placed.set(key, { offset: this.#offset, depth });
    for (const part of parts) {
      this.#parts.push(part);
      this.#offset += part.length;
    }
  }
}

/** Seven bits a byte, the highest first, each but the last one less than it stands for. */
function distance(value: number): Uint8Array {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift((rest % 128) | 0x80);
  }
  return Uint8Array.from(bytes);
}

/** An object as it stands in a pack, as small as zlib makes it. */
export async function wholeEntry(type: ObjectType, data: Uint8Array): Promise<Uint8Array> {
  return Buffer.concat([entryHeader(packTypes[type], data.length), await deflatedBest(data)]);
}

/** As small as zlib makes it. */
export async function deflatedBest(data: Uint8Array): Promise<Uint8Array> {
  const level = constants.Z_BEST_COMPRESSION;
  if (data.length > smallObjectBytes) return deflateAsync(data, { level });
  // A window that fits the data: zlib clears the memory of its window for each object.
  const windowBits = Math.max(9, Math.ceil(Math.log2(data.length + 1)));
  const chunkSize = Math.max(64, data.length + 64);
  return deflateSync(data, {
    level,
    chunkSize,
    windowBits: Math.min(15, windowBits),
    memLevel: data.length > 2048 ? 8 : 3,
  });
}
