import { badPack, deltaSizes } from './pack-read.js';

const longestInsert = 127;
const longestCopy = 0xffffff;

/** What a delta makes of its base. @throws MeshError `protocol_error` when it does not fit. */
export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const sizes = deltaSizes(delta);
  if (sizes.base !== base.length) throw badPack('a delta belongs to another object');
  const made = new Uint8Array(sizes.result);
  let to = 0;
  let at = sizes.at;
  const put = (bytes: Uint8Array, length: number): void => {
    if (length === 0 || bytes.length !== length || to + length > made.length) throw badPack('a delta reaches outside');
    made.set(bytes, to);
    to += length;
  };
  while (at < delta.length) {
    const code = delta[at] ?? 0;
    at += 1;
    if ((code & 0x80) === 0) {
      put(delta.subarray(at, at + code), code);
      at += code;
      continue;
    }
    // A copy: bits 0 to 3 say which bytes of the offset follow, bits 4 to 6 which of the length.
    const numbers = [0, 0];
    for (let bit = 0; bit < 7; bit++) {
      if ((code & (1 << bit)) === 0) continue;
      const byte = delta[at];
      if (byte === undefined) throw badPack('a delta is cut');
      at += 1;
      const which = bit < 4 ? 0 : 1;
      numbers[which] = (numbers[which] ?? 0) + byte * 2 ** (8 * (bit - 4 * which));
    }
    const [from = 0, stated = 0] = numbers;
    const length = stated === 0 ? 0x10000 : stated;
    put(base.subarray(from, from + length), length);
  }
  if (to !== made.length) throw badPack(`a delta makes ${to} bytes of the ${made.length} it states`);
  return made;
}

/** A delta for two that differ in one place: what both begin and end with is copied, what is between is put in. */
export function makeDelta(base: Uint8Array, target: Uint8Array): Uint8Array {
  const most = Math.min(base.length, target.length);
  let head = 0;
  while (head < most && base[head] === target[head]) head += 1;
  let tail = 0;
  while (tail < most - head && base[base.length - 1 - tail] === target[target.length - 1 - tail]) tail += 1;
  const bytes: number[] = [...varint(base.length), ...varint(target.length), ...copies(0, head)];
  for (let at = head; at < target.length - tail; at += longestInsert) {
    const piece = target.subarray(at, Math.min(at + longestInsert, target.length - tail));
    bytes.push(piece.length, ...piece);
  }
  bytes.push(...copies(base.length - tail, tail));
  return Uint8Array.from(bytes);
}

/** As sizes stand at the beginning of a delta: seven bits a byte, the lowest first. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

function copies(from: number, length: number): number[] {
  const bytes: number[] = [];
  for (let at = from, left = length; left > 0;) {
    const size = Math.min(left, longestCopy);
    const numbers = [at, at >>> 8, at >>> 16, at >>> 24, size, size >>> 8, size >>> 16].map((byte) => byte & 0xff);
    const present = numbers.map((byte, bit) => (byte === 0 ? 0 : 1 << bit)).reduce((sum, bit) => sum | bit, 0x80);
    bytes.push(present, ...numbers.filter((byte) => byte !== 0));
    at += size;
    left -= size;
  }
  return bytes;
}
