import { createHash } from 'node:crypto';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { deflated } from './deflated.js';

const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

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

/** How a version 2 pack of `count` objects begins. */
export function packHeader(count: number): Buffer {
  const header = Buffer.alloc(12);
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
function entryHeader(type: number, size: number): Uint8Array {
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
