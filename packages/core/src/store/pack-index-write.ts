import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Oid } from '../domain/ids.js';
import { hashObject } from './object-id.js';
import { DeltaChains } from './pack-chain.js';
import { indexMagic } from './pack-index.js';
import type { PackEntry } from './pack-read.js';
import { badPack, packCount, packEntries, readEntry } from './pack-read.js';

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
  limits: { maxObjectBytes: number },
): Promise<{ index: Uint8Array } | { missing: Oid[] }> {
  const bytes = Buffer.from(pack.buffer, pack.byteOffset, pack.length);
  const offsets = new Map<string, number>();
  const chains = new DeltaChains({
    maxCachedBytes,
    ...limits,
    entryAt: (offset) =>
      Promise.resolve(readEntry(bytes, { at: offset }, { end: bytes.length - 20, offset, ...limits })),
    offsetOf: (base) => offsets.get(base) ?? null,
  });
  const starts = new Set<number>();
  const indexed: Indexed[] = [];
  const add = async (entry: PackEntry, crc: number): Promise<boolean> => {
    if (entry.kind === 'offset delta' && !starts.has(entry.base)) throw badPack('a delta points between two objects');
    const object = await chains.object(entry);
    if (object === null) return false;
    const oid = hashObject(object.type, object.data);
    if (offsets.has(oid)) throw badPack(`object ${oid} is there twice`);
    offsets.set(oid, entry.offset);
    indexed.push({ oid: Buffer.from(oid, 'hex'), crc, offset: entry.offset });
    return true;
  };
  let waiting: { offset: number; crc: number }[] = [];
  let turnBegan = performance.now();
  for (const entry of packEntries(pack, limits)) {
    const crc = crc32(bytes.subarray(entry.offset, entry.end));
    starts.add(entry.offset);
    if (!(await add(entry, crc))) waiting.push({ offset: entry.offset, crc });
    if (performance.now() - turnBegan < longestRunMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    turnBegan = performance.now();
  }
  // The base of a delta by id may stand behind it.
  while (waiting.length > 0) {
    const still: typeof waiting = [];
    const missing = new Set<Oid>();
    for (const one of waiting) {
      const entry = readEntry(bytes, { at: one.offset }, { end: bytes.length - 20, offset: one.offset, ...limits });
      if (await add(entry, one.crc)) continue;
      still.push(one);
      // A base id is 40 hex digits by the way it was read.
      if (entry.kind === 'ref delta' && !offsets.has(entry.base)) missing.add(entry.base as Oid);
    }
    if (still.length === waiting.length) {
      if (missing.size > 0) return { missing: [...missing] };
      throw badPack(`${still.length} of its ${packCount(pack)} objects are deltas that do not resolve`);
    }
    waiting = still;
  }
  return { index: encodeIndex(indexed, bytes.subarray(-20)) };
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
