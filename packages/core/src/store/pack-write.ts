import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import type { GitObject } from '../domain/git-object.js';

const deflateAsync = promisify(deflate);
/** Up to here the way to another thread and back costs more than the work, and nearly every object of a mesh is smaller. */
const inPlaceBytes = 16 * 1024;
const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/** A version 2 pack of these objects, none as a delta. */
export async function encodePack(objects: readonly GitObject[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of packParts(objects.length, objects)) parts.push(part);
  return Buffer.concat(parts);
}

/**
 * The same pack bit by bit, which never has more than one object in memory.
 * @param count how many objects there are, each only once; another number of them is a bug
 */
export async function* packParts(
  count: number,
  objects: AsyncIterable<GitObject> | Iterable<GitObject>,
): AsyncGenerator<Uint8Array, void> {
  const header = packHeader(count);
  const hash = createHash('sha1').update(header);
  yield header;
  let written = 0;
  for await (const object of objects) {
    const entry = await packedObject(object);
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

/** An object as it stands in a pack, whole. */
export async function packedObject({ type, data }: GitObject): Promise<Buffer> {
  const deflated = data.length <= inPlaceBytes ? deflateSync(data) : await deflateAsync(data);
  return Buffer.concat([entryHeader(packTypes[type], data.length), deflated]);
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
