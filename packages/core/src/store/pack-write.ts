import { createHash } from 'node:crypto';
import type { GitObject } from '../domain/git-object.js';
import { deflated } from './deflated.js';

const packTypes = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/** A version 2 pack of these objects, none as a delta. */
export async function encodePack(objects: readonly GitObject[]): Promise<Uint8Array> {
  const header = Buffer.alloc(12);
  header.write('PACK', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts: Uint8Array[] = [header];
  for (const { type, data } of objects) parts.push(entryHeader(packTypes[type], data.length), await deflated(data));
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return Buffer.concat([...parts, hash.digest()]);
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
