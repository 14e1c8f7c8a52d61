import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Oid } from '../domain/ids.js';
import { asBuffer } from './as-buffer.js';
import { hashObject } from './object-id.js';
import { DeltaChains } from './pack-chain.js';
import { indexMagic } from './pack-index-format.js';
import type { PackEntry, PackLimits } from './pack-read.js';
import { InflatedBytes, badPack, packCount, packEntries, readEntry } from './pack-read.js';

const maxCachedBytes = 48 * 1024 * 1024;
/** How long the work may keep everything else in the process from running. */
const longestRunMs = 10;

/** Where an object stands in a pack. */
export interface Indexed {
  /** 20 bytes. */
  oid: Buffer;
  /** CRC-32 of the entry as it stands there, header included. */
  crc: number;
  offset: number;
}

/**
 * The version 2 index of a pack: every object in it made whole and hashed, with memory for a part of them at a time. Or,
 * for a thin pack, the bases it leaves out.
 * @throws MeshError `protocol_error` where a delta does not resolve, or an object is there twice; `payload_too_large`.
 */
export async function makePackIndex(
  pack: Uint8Array,
  limits: PackLimits,
): Promise<{ index: Uint8Array } | { missing: Oid[] }> {
  const bytes = asBuffer(pack);
  const offsets = new Map<string, number>();
  const inflated = new InflatedBytes(limits);
  const entryAt = (offset: number): PackEntry =>
    readEntry(bytes, { at: offset }, { end: bytes.length - 20, offset, maxObjectBytes: limits.maxObjectBytes });
  const chains = new DeltaChains({
    maxCachedBytes,
    maxObjectBytes: limits.maxObjectBytes,
    entryAt: (offset) => Promise.resolve(entryAt(offset)),
    offsetOf: (base) => offsets.get(base) ?? null,
    onMade: (made) => {
      inflated.add(made);
    },
  });
  const starts = new Set<number>();
  const indexed: Indexed[] = [];
  const waiting = new Waiting();
  let turnBegan = performance.now();
  const breathe = async (): Promise<void> => {
    if (performance.now() - turnBegan < longestRunMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    turnBegan = performance.now();
  };
  const add = async (entry: PackEntry, crc: number): Promise<void> => {
    if (entry.kind === 'offset delta' && !starts.has(entry.base)) throw badPack('a delta points between two objects');
    const object = waiting.has(entry) ? null : await chains.object(entry);
    if (object === null) {
      waiting.add(entry, crc);
      return;
    }
    const oid = hashObject(object.type, object.data);
    if (offsets.has(oid)) throw badPack(`object ${oid} is there twice`);
    offsets.set(oid, entry.offset);
    indexed.push({ oid: Buffer.from(oid, 'hex'), crc, offset: entry.offset });
    waiting.made(oid, entry.offset);
  };
  for (const entry of packEntries(pack, { ...limits, inflated })) {
    const crc = crc32(bytes.subarray(entry.offset, entry.end));
    starts.add(entry.offset);
    await add(entry, crc);
    await breathe();
  }
  // The base of a delta by id may stand behind it.
  for (let one = waiting.next(); one !== undefined; one = waiting.next()) {
    await add(entryAt(one.offset), one.crc);
    await breathe();
  }
  if (waiting.count > 0) {
    const missing = waiting.bases().filter((base) => !offsets.has(base));
    if (missing.length > 0) return { missing };
    throw badPack(`${waiting.count} of its ${packCount(pack)} objects are deltas that do not resolve`);
  }
  return { index: encodeIndex(indexed, bytes.subarray(-20)) };
}

interface WaitingEntry {
  offset: number;
  crc: number;
}

/**
 * Deltas whose base is not made yet, by that base: each is looked at once more when it is there, however many stand
 * before their bases.
 */
class Waiting {
  count = 0;
  readonly #byBase = new Map<string, WaitingEntry[]>();
  readonly #offsets = new Set<number>();
  readonly #ready: WaitingEntry[] = [];

  /** Whether the entry's own base waits. */
  has(entry: PackEntry): boolean {
    return entry.kind === 'offset delta' && this.#offsets.has(entry.base);
  }

  add(entry: PackEntry, crc: number): void {
    if (entry.kind !== 'offset delta' && entry.kind !== 'ref delta') throw badPack('an object waits for no other');
    const base = String(entry.base);
    const others = this.#byBase.get(base);
    if (others === undefined) this.#byBase.set(base, [{ offset: entry.offset, crc }]);
    else others.push({ offset: entry.offset, crc });
    this.#offsets.add(entry.offset);
    this.count += 1;
  }

  made(oid: string, offset: number): void {
    for (const base of [oid, String(offset)]) {
      for (const one of this.#byBase.get(base) ?? []) this.#ready.push(one);
      this.#byBase.delete(base);
    }
  }

  /** One whose base is made; it is taken out. */
  next(): WaitingEntry | undefined {
    const one = this.#ready.pop();
    if (one === undefined) return undefined;
    this.count -= 1;
    this.#offsets.delete(one.offset);
    return one;
  }

  /** The ids that are waited for. */
  bases(): Oid[] {
    // 40 hex digits by the way they were read; the others are offsets.
    return [...this.#byBase.keys()].filter((base): base is Oid => base.length === 40);
  }
}

/** A version 2 index; sorts `objects`. */
export function encodeIndex(objects: Indexed[], packChecksum: Uint8Array): Uint8Array {
  objects.sort((a, b) => a.oid.compare(b.oid));
  const fanout = Buffer.alloc(256 * 4);
  const crcs = Buffer.alloc(objects.length * 4);
  const offsets = Buffer.alloc(objects.length * 4);
  const upTo = new Array<number>(256).fill(0);
  for (const [n, { oid, crc, offset }] of objects.entries()) {
    upTo[oid[0] ?? 0] = n + 1;
    crcs.writeUInt32BE(crc, n * 4);
    // Above it the number would name an entry of a table for large packs, which no pack of ours needs.
    if (offset >= 2 ** 31) throw badPack('it has more than 2 GiB');
    offsets.writeUInt32BE(offset, n * 4);
  }
  let count = 0;
  for (let byte = 0; byte < 256; byte++) {
    count = Math.max(count, upTo[byte] ?? 0);
    fanout.writeUInt32BE(count, byte * 4);
  }
  const body = Buffer.concat([indexMagic, fanout, ...objects.map(({ oid }) => oid), crcs, offsets, packChecksum]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}
