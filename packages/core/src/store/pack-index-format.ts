import { asBuffer } from './as-buffer.js';
import type { Indexed } from './pack-index-write.js';

/** Version 2. */
export const indexMagic: Buffer = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const fanoutAt = 8;
/** The number of objects whose id begins with no larger byte, for each byte. */
const fanoutEntries = 256;
/** Of the pack and of the index itself. */
export const sumsBytes = 40;
/** The magic and the fan-out; the ids follow. */
export const indexHeadBytes: number = fanoutAt + fanoutEntries * 4;
export const oidBytes = 20;
export const offsetBytes = 4;
export const largeOffsetBytes = 8;
const bytesAnObject = oidBytes + 4 + offsetBytes;

/** git's own new packs have a leading dot until all of their files are there. */
export function isIndexName(name: string): boolean {
  return name.endsWith('.idx') && !name.startsWith('.');
}

/**
 * The fan-out of an index of so many bytes, of which the head is enough here. Null for one that is no version 2 index, or
 * is being written and read again the next time.
 */
export function fanoutOf(head: Uint8Array, size: number): Uint32Array | null {
  const bytes = asBuffer(head);
  if (bytes.length < indexHeadBytes || !bytes.subarray(0, fanoutAt).equals(indexMagic)) return null;
  const fanout = Uint32Array.from({ length: fanoutEntries }, (_, byte) => bytes.readUInt32BE(fanoutAt + byte * 4));
  return size >= indexHeadBytes + countOf(fanout) * bytesAnObject + sumsBytes ? fanout : null;
}

export const countOf = (fanout: Uint32Array): number => fanout[fanoutEntries - 1] ?? 0;

/** Where the tables of an index of so many objects begin: offsets stand behind ids and checksums. */
export function tablesOf(count: number): { oids: number; crcs: number; offsets: number; large: number } {
  const crcs = indexHeadBytes + count * oidBytes;
  const offsets = crcs + count * 4;
  return { oids: indexHeadBytes, crcs, offsets, large: offsets + count * offsetBytes };
}

/** What an entry of the table of offsets is: the offset, or its place in the table of large ones where the top bit is set. */
export function offsetIn(entry: number): { offset: number } | { large: number } {
  return entry < 2 ** 31 ? { offset: entry } : { large: entry - 2 ** 31 };
}

/** Where an index is damaged, for an offset: no place in a pack. */
export const noOffset = -1;

/** All of an index, in the order of the offsets; null for a damaged one. */
export function indexedObjects(bytes: Uint8Array): Indexed[] | null {
  const index = asBuffer(bytes);
  const fanout = fanoutOf(index, index.length);
  if (fanout === null) return null;
  const count = countOf(fanout);
  const tables = tablesOf(count);
  const offsetOf = (n: number): number => {
    const entry = offsetIn(index.readUInt32BE(tables.offsets + n * offsetBytes));
    if ('offset' in entry) return entry.offset;
    const at = tables.large + entry.large * largeOffsetBytes;
    return at + largeOffsetBytes > index.length ? noOffset : Number(index.readBigUInt64BE(at));
  };
  const objects = Array.from({ length: count }, (_, n) => ({
    oid: index.subarray(tables.oids + n * oidBytes, tables.oids + (n + 1) * oidBytes),
    crc: index.readUInt32BE(tables.crcs + n * 4),
    offset: offsetOf(n),
  }));
  return objects.sort((a, b) => a.offset - b.offset);
}
