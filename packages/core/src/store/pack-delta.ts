import { badPack, deltaSizes } from './pack-read.js';

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
