import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { GitObject, ObjectType } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { deflated } from './deflated.js';
import { encodeIndex } from './pack-index-write.js';
import type { Indexed } from './pack-index-write.js';

/** As an entry's head states it; deltas are 6 and 7. */
export const packTypes: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** The type of a delta that names its base by id. */
const refDelta = 7;

/** An object as it goes into a pack. */
export type PackPart = GitObject | { base: Oid; delta: Uint8Array };

/** A version 2 pack of these. The bases of deltas are to be among them. */
export async function encodePack(parts: readonly PackPart[]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of packParts(parts.length, parts)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * The same pack bit by bit, which never has more than one object in memory.
 * @param count how many objects there are, each only once; another number of them is a bug
 */
export async function* packParts(
  count: number,
  parts: AsyncIterable<PackPart> | Iterable<PackPart>,
): AsyncGenerator<Uint8Array, void> {
  const header = packHeader(count);
  const hash = createHash('sha1').update(header);
  yield header;
  let written = 0;
  for await (const part of parts) {
    const entry = await packedObject(part);
    hash.update(entry);
    yield entry;
    written += 1;
  }
  if (written !== count) throw new Error(`a pack of ${count} objects was given ${written}`);
  yield hash.digest();
}

/** A pack with its index, as the files `<name>.pack` and `<name>.idx`. */
export interface PackFiles {
  /** `pack-` and the pack's checksum, as git names them. */
  name: string;
  pack: Uint8Array;
  index: Uint8Array;
}

/** An object as it stands in a pack, header included. */
export interface PackedEntry {
  /** 20 bytes. */
  oid: Buffer;
  bytes: Uint8Array;
  crc: number;
}

/** A pack of these objects, each given once, and its index. */
export async function packFiles(objects: readonly (GitObject & { oid: Oid })[]): Promise<PackFiles> {
  const entries: PackedEntry[] = [];
  for (const object of objects) {
    const bytes = await packedObject(object);
    entries.push({ oid: Buffer.from(object.oid, 'hex'), bytes, crc: crc32(bytes) });
  }
  return joinPacked(entries);
}

/** The same from entries as they stand in other packs. A delta by distance must follow its base as it did there. */
export function joinPacked(entries: readonly PackedEntry[]): PackFiles {
  const parts: Uint8Array[] = [packHeader(entries.length)];
  const indexed: Indexed[] = [];
  let offset = headerBytes;
  for (const { oid, crc, bytes } of entries) {
    indexed.push({ oid, crc, offset });
    parts.push(bytes);
    offset += bytes.length;
  }
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  const checksum = hash.digest();
  const pack = Buffer.concat([...parts, checksum]);
  return { name: `pack-${checksum.toString('hex')}`, pack, index: encodeIndex(indexed, checksum) };
}

const headerBytes = 12;

/** How a version 2 pack of `count` objects begins. */
export function packHeader(count: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('PACK', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return header;
}

/** An object as it stands in a pack. */
export async function packedObject(part: PackPart): Promise<Buffer> {
  if ('delta' in part) {
    const header = [entryHeader(refDelta, part.delta.length), Buffer.from(part.base, 'hex')];
    return Buffer.concat([...header, await deflated(part.delta)]);
  }
  return Buffer.concat([entryHeader(packTypes[part.type], part.data.length), await deflated(part.data)]);
}

/** Type in bits 4 to 6 of the first byte, the size in 4 bits and then 7 a byte, lowest first. */
export function entryHeader(type: number, size: number): Uint8Array {
  const bytes: number[] = [];
  let rest = Math.floor(size / 16);
  let byte = (type << 4) | (size % 16);
  while (rest > 0) {
    bytes.push(byte | 0x80);
    byte = rest % 128;
    rest = Math.floor(rest / 128);
  }
  bytes.push(byte);
  return Uint8Array.from(bytes);
}
