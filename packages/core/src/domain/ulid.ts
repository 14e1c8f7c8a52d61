import type { RandomBytes } from './clock.js';
import type { EpochMillis, Ulid } from './ids.js';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeDigits = 10;
const randomDigits = 16;
/** The end of the year 9999. */
const lastTime = 253_402_300_799_999;

/**
 * A ULID above `last`, of the time `now` where that is later than `last`'s; else (same millisecond, or a clock that
 * stepped back) the one right after `last`. An overflow of the random part carries into the time part.
 */
export function nextUlid(options: { now: EpochMillis; random: RandomBytes; last: Ulid | null }): Ulid {
  const now = Math.min(Math.max(Math.trunc(options.now), 0), lastTime);
  if (options.last !== null && now <= ulidTime(options.last)) return increment(options.last);
  // Ten digits of time and sixteen of randomness are a ULID by construction.
  return (encodeTime(now) + encodeRandom(options.random)) as Ulid;
}

/** When the ULID was made, by the clock of whoever made it. */
export function ulidTime(ulid: Ulid): EpochMillis {
  let time = 0;
  for (const digit of ulid.slice(0, timeDigits)) time = time * 32 + alphabet.indexOf(digit);
  return time;
}

function encodeTime(time: EpochMillis): string {
  let rest = time;
  let digits = '';
  for (let i = 0; i < timeDigits; i++) {
    digits = alphabet.charAt(rest % 32) + digits;
    rest = Math.floor(rest / 32);
  }
  return digits;
}

function encodeRandom(random: RandomBytes): string {
  // One byte a digit: 256 is a multiple of 32, so every digit is equally likely.
  const bytes = random(randomDigits);
  return Array.from(bytes, (byte) => alphabet.charAt(byte % 32)).join('');
}

function increment(ulid: Ulid): Ulid {
  const digits = Array.from(ulid);
  for (let i = digits.length - 1; i >= 0; i--) {
    const value = alphabet.indexOf(digits[i] ?? '0');
    if (value < 31) {
      digits[i] = alphabet.charAt(value + 1);
      return digits.join('') as Ulid;
    }
    digits[i] = '0';
  }
  throw new RangeError('no ULID is left after the last one');
}
