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
  const header = Buffer.alloc(12);
  header.write('PACK', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(parts.length, 8);
  const pieces: Uint8Array[] = [header];
  for (const part of parts) {
    if ('delta' in part) {
      pieces.push(entryHeader(refDelta, part.delta.length), Buffer.from(part.base, 'hex'), await deflated(part.delta));
    } else {
      pieces.push(entryHeader(packTypes[part.type], part.data.length), await deflated(part.data));
    }
  }
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(piece);
  return Buffer.concat([...pieces, hash.digest()]);
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
