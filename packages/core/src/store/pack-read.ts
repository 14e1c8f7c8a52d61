import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { MeshError } from '../errors.js';
import type { ObjectType } from '../domain/git-object.js';
import { asBuffer } from './as-buffer.js';
import { isErrno } from './fs.js';

const maxPieceBytes = 256 * 1024;
/** Memory for their index goes with their number. More than ten years of a busy mesh of ten machines. */
const maxPackObjects = 3_000_000;

export interface PackLimits {
  maxObjectBytes: number;
  /** What all of its objects may measure together once they are inflated, and deltas applied. */
  maxInflatedBytes?: number;
}

/** Counts what a pack inflates to. */
export class InflatedBytes {
  readonly #limit: number;
  #bytes = 0;

  constructor({ maxInflatedBytes = Number.POSITIVE_INFINITY }: PackLimits) {
    this.#limit = maxInflatedBytes;
  }

  /** @throws MeshError `payload_too_large`. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#limit) return;
    throw new MeshError(
      'payload_too_large',
      `a pack inflates to more than the ${this.#limit} bytes allowed: nothing of it was taken in`,
      { data: { limit: this.#limit } },
    );
  }
}

/** One object of a pack as it stands there. `data` is the content, or the delta. */
export type PackEntry = { offset: number; data: Uint8Array } & (
  { kind: ObjectType } | { kind: 'offset delta'; base: number } | { kind: 'ref delta'; base: string }
);

const plainTypes = new Map<number, ObjectType>([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
]);

/**
 * Walks a version 2 pack and inflates each entry to what it declares and no further, so that a small pack cannot fill
 * the memory. Delta chains are not followed here, but the size that each delta makes is checked.
 * @throws MeshError `protocol_error` for a pack that is cut or damaged, `payload_too_large` past a limit.
 */
export function* packEntries(
  pack: Uint8Array,
  limits: PackLimits & { inflated?: InflatedBytes },
): Generator<PackEntry & { end: number }> {
  const bytes = asBuffer(pack);
  const count = packCount(bytes);
  const end = bytes.length - 20;
  const cursor = { at: 12 };
  const { maxObjectBytes, inflated = new InflatedBytes(limits) } = limits;
  for (let n = 0; n < count; n++) {
    const entry = readEntry(bytes, cursor, { end, offset: cursor.at, maxObjectBytes });
    inflated.add(entry.data.length);
    yield { ...entry, end: cursor.at };
  }
  if (cursor.at !== end) throw badPack(`${end - cursor.at} bytes follow its last object`);
}

/** What stands before the deflated content of an entry; of a delta, `size` is its own. */
export type EntryHead = { size: number } & (
  { kind: ObjectType } | { kind: 'offset delta'; base: number } | { kind: 'ref delta'; base: string }
);

/**
 * The head of the entry that begins at the cursor, which is moved behind it. `offset` is where that is in the pack: `bytes`
 * may be a piece of it.
 * @throws MeshError `protocol_error`.
 */
export function readHead(bytes: Buffer, cursor: Cursor, { end, offset }: { end: number; offset: number }): EntryHead {
  const { type, size } = readHeader(bytes, cursor, end);
  const plain = plainTypes.get(type);
  if (plain !== undefined) return { kind: plain, size };
  if (type === 6)
    return { kind: 'offset delta', size, base: offset - readDistance(bytes, cursor, { end, max: offset }) };
  if (type === 7) return { kind: 'ref delta', size, base: readBaseId(bytes, cursor, end) };
  throw badPack(`the object at byte ${offset} has the unknown type ${type}`);
}

/**
 * The entry that begins at the cursor, which is moved behind it.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export function readEntry(
  bytes: Buffer,
  cursor: Cursor,
  { end, offset, ...limits }: { end: number; offset: number; maxObjectBytes: number },
): PackEntry {
  const head = readHead(bytes, cursor, { end, offset });
  const { size } = head;
  if (size > limits.maxObjectBytes) throw tooLarge(size, limits);
  const data = readDeflated(bytes, cursor, { end, size });
  if (head.kind !== 'offset delta' && head.kind !== 'ref delta') return { kind: head.kind, offset, data };
  const made = deltaSizes(data).result;
  if (made > limits.maxObjectBytes) throw tooLarge(made, limits);
  return head.kind === 'offset delta'
    ? { kind: 'offset delta', offset, base: head.base, data }
    : { kind: 'ref delta', offset, base: head.base, data };
}

/**
 * The number of objects that the header states, once the header and the trailing SHA-1 are right.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export function packCount(pack: Uint8Array): number {
  const bytes = asBuffer(pack);
  if (bytes.length < 32 || bytes.toString('latin1', 0, 4) !== 'PACK') throw badPack('it has no pack header');
  const version = bytes.readUInt32BE(4);
  if (version !== 2) throw badPack(`expected version 2, got ${version}`);
  const sum = createHash('sha1').update(bytes.subarray(0, -20)).digest();
  if (!sum.equals(bytes.subarray(-20))) throw badPack('its checksum is wrong, it was cut or changed on the way');
  const count = bytes.readUInt32BE(8);
  if (count <= maxPackObjects) return count;
  throw new MeshError(
    'payload_too_large',
    `a pack holds ${count} objects, more than the ${maxPackObjects} allowed: nothing of it was taken in`,
    { data: { count, limit: maxPackObjects } },
  );
}

export interface Cursor {
  at: number;
}

function nextByte(bytes: Buffer, cursor: Cursor, end: number): number {
  const byte = cursor.at < end ? bytes[cursor.at] : undefined;
  if (byte === undefined) throw badPack('it ends inside an object');
  cursor.at += 1;
  return byte;
}

function readHeader(bytes: Buffer, cursor: Cursor, end: number): { type: number; size: number } {
  let byte = nextByte(bytes, cursor, end);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let scale = 16; byte & 0x80; scale *= 128) {
    byte = nextByte(bytes, cursor, end);
    size += (byte & 0x7f) * scale;
    if (!Number.isSafeInteger(size)) throw badPack('an object declares an impossible size');
  }
  return { type, size };
}

/** How far back the base of an offset delta stands. */
function readDistance(bytes: Buffer, cursor: Cursor, { end, max }: { end: number; max: number }): number {
  let byte = nextByte(bytes, cursor, end);
  let distance = byte & 0x7f;
  while (byte & 0x80) {
    byte = nextByte(bytes, cursor, end);
    distance = (distance + 1) * 128 + (byte & 0x7f);
    if (distance > max) break;
  }
  if (distance === 0 || distance > max) throw badPack('a delta points outside of it');
  return distance;
}

function readBaseId(bytes: Buffer, cursor: Cursor, end: number): string {
  if (cursor.at + 20 > end) throw badPack('it ends inside an object');
  const base = bytes.toString('hex', cursor.at, cursor.at + 20);
  cursor.at += 20;
  return base;
}

function readDeflated(bytes: Buffer, cursor: Cursor, { end, size }: { end: number; size: number }): Uint8Array {
  try {
    // With `info` the result is an object, which the type declarations do not know.
    const { buffer, engine } = inflateSync(bytes.subarray(cursor.at, end), {
      info: true,
      maxOutputLength: Math.max(size, 1),
      // One piece where it fits: zlib's own are 16 KB each, for the few hundred bytes of most objects.
      chunkSize: Math.min(Math.max(size + 1, 64), maxPieceBytes),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (buffer.length !== size) throw badPack(`an object of ${size} bytes inflates to ${buffer.length}`);
    cursor.at += engine.bytesWritten;
    return buffer;
  } catch (error) {
    if (isErrno(error, 'ERR_BUFFER_TOO_LARGE')) throw badPack(`an object inflates to more than its ${size} bytes`);
    if (isErrno(error, 'Z_DATA_ERROR', 'Z_BUF_ERROR', 'Z_NEED_DICT')) throw badPack('an object does not inflate');
    throw error;
  }
}

/** The sizes that a delta states: of its base, and of what it makes. */
export function deltaSizes(delta: Uint8Array): { base: number; result: number; at: number } {
  let at = 0;
  const size = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = delta[at];
      if (byte === undefined) throw badPack('a delta is cut');
      at += 1;
      value += (byte & 0x7f) * scale;
      if (!Number.isSafeInteger(value)) throw badPack('a delta declares an impossible size');
      if ((byte & 0x80) === 0) return value;
    }
  };
  const base = size();
  const result = size();
  return { base, result, at };
}

export function badPack(reason: string): MeshError {
  return new MeshError('protocol_error', `a pack is not valid: ${reason}; nothing of it was taken in, fetch again`);
}

function tooLarge(bytes: number, { maxObjectBytes }: { maxObjectBytes: number }): MeshError {
  return new MeshError(
    'payload_too_large',
    `a pack holds an object of ${bytes} bytes, more than the ${maxObjectBytes} allowed: nothing of it was taken in`,
    { data: { bytes, limit: maxObjectBytes } },
  );
}
