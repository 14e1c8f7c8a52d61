import { asBuffer } from './as-buffer.js';
import { varint } from './pack-delta.js';

const blockBytes = 8;
/** In a smaller base every place is indexed, in a larger one every fourth. */
const finelyIndexedBytes = 4096;
const coarseStep = 4;
const longestInsert = 127;
const longestCopy = 0xffff;
/** What is put in instead is no longer than a copy would be. */
const shortestEnd = 4;
/** Without an index of a large base, so much is put in as it is. */
const notWorthAnIndex = 48;

/** An object that others are made deltas of. Its index is made when one first needs it. */
export class DeltaBase {
  readonly data: Buffer;
  #slots: Int32Array | null = null;
  #shift = 0;

  constructor(data: Uint8Array) {
    this.data = asBuffer(data);
  }

  /** Where a block with the hash of the one at `at` of `other` may stand; -1 for nowhere. */
  find(other: Buffer, at: number): number {
    const slots = (this.#slots ??= this.#index());
    return (slots[hashAt(other, at) >>> this.#shift] ?? 0) - 1;
  }

  #index(): Int32Array {
    const { data } = this;
    const step = data.length <= finelyIndexedBytes ? 1 : coarseStep;
    const bits = Math.max(4, Math.ceil(Math.log2((2 * data.length) / step)));
    this.#shift = 32 - bits;
    const slots = new Int32Array(2 ** bits);
    for (let at = 0; at + blockBytes <= data.length; at += step) slots[hashAt(data, at) >>> this.#shift] = at + 1;
    return slots;
  }
}

function hashAt(bytes: Buffer, at: number): number {
  return (Math.imul(bytes.readInt32LE(at), 0x9e3779b1) ^ Math.imul(bytes.readInt32LE(at + 4), 0x85ebca6b)) >>> 0;
}

/**
 * A delta that makes `content` of `base`, in the form that packs have; null where it would be longer than `maxBytes`.
 * Quickest where the two differ in one place, and finds what was moved, too.
 */
export function encodeDelta(base: DeltaBase, content: Uint8Array, maxBytes: number): Buffer | null {
  const from = base.data;
  const to = asBuffer(content);
  const most = Math.min(from.length, to.length);
  let head = 0;
  while (head < most && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < most - head && from[from.length - 1 - tail] === to[to.length - 1 - tail]) tail += 1;
  if (head < shortestEnd) head = 0;
  if (tail < shortestEnd) tail = 0;
  const made = new Ops(maxBytes, [...varint(from.length), ...varint(to.length)]);
  made.copy(0, head);
  const end = to.length - tail;
  let pending = head;
  const isSearched = end - head > notWorthAnIndex || from.length <= finelyIndexedBytes;
  for (let at = head; isSearched && at + blockBytes <= end && !made.isFull;) {
    const found = base.find(to, at);
    const length = found === -1 ? 0 : sameLength(from, found, { to, at, end });
    if (length < blockBytes) {
      at += 1;
      continue;
    }
    let back = 0;
    while (at - back > pending && found > back && from[found - back - 1] === to[at - back - 1]) back += 1;
    made.insert(to, pending, at - back);
    made.copy(found - back, length + back);
    at += length;
    pending = at;
  }
  made.insert(to, pending, end);
  made.copy(from.length - tail, tail);
  return made.bytes();
}

function sameLength(from: Buffer, found: number, { to, at, end }: { to: Buffer; at: number; end: number }): number {
  const most = Math.min(from.length - found, end - at);
  let length = 0;
  while (length < most && from[found + length] === to[at + length]) length += 1;
  return length;
}

/** The instructions of a delta, up to a length. */
class Ops {
  isFull = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(maxBytes: number, head: readonly number[]) {
    this.#bytes = Buffer.allocUnsafe(Math.max(0, maxBytes));
    this.#put(head);
  }

  bytes(): Buffer | null {
    return this.isFull ? null : this.#bytes.subarray(0, this.#at);
  }

  insert(content: Buffer, from: number, to: number): void {
    for (let at = from; at < to && !this.isFull; at += longestInsert) {
      const length = Math.min(longestInsert, to - at);
      this.#put([length]);
      if (!this.#hasRoom(length)) return;
      content.copy(this.#bytes, this.#at, at, at + length);
      this.#at += length;
    }
  }

  copy(from: number, length: number): void {
    for (let at = from, left = length; left > 0 && !this.isFull;) {
      const size = Math.min(left, longestCopy);
      const numbers = [at, at >>> 8, at >>> 16, at >>> 24, size, size >>> 8].map((byte) => byte & 0xff);
      const present = numbers.reduce((sum, byte, bit) => (byte === 0 ? sum : sum | (1 << bit)), 0x80);
      this.#put([present, ...numbers.filter((byte) => byte !== 0)]);
      at += size;
      left -= size;
    }
  }

  #put(bytes: readonly number[]): void {
    if (!this.#hasRoom(bytes.length)) return;
    for (const byte of bytes) this.#bytes[this.#at++] = byte;
  }

  #hasRoom(more: number): boolean {
    this.isFull ||= this.#at + more > this.#bytes.length;
    return !this.isFull;
  }
}
