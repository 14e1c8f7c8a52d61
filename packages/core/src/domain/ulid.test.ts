import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ulid } from './ids.js';
import { isUlid } from './ids.js';
import { nextUlid, ulidTime } from './ulid.js';

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

describe('nextUlid', () => {
  it('carries the time it was made', () => {
    expect(ulidTime(nextUlid({ now: 1_796_187_600_123, random, last: null }))).toBe(1_796_187_600_123);
    expect(ulidTime('01ARZ3NDEKTSV4RRFFQ69G5FAV' as Ulid)).toBe(1_469_922_850_259);
  });

  it('rises however the clock goes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 60 }), (times) => {
        let last: Ulid | null = null;
        for (const now of times) {
          const next: Ulid = nextUlid({ now: 1_796_187_600_000 + now, random, last });
          expect(isUlid(next)).toBe(true);
          if (last !== null) expect(next > last).toBe(true);
          last = next;
        }
      }),
    );
  });

  it('goes on right above the last one where the clock stepped back a year', () => {
    const last = nextUlid({ now: 1_796_187_600_000, random: (n) => new Uint8Array(n), last: null });
    const next = nextUlid({ now: 1_764_651_600_000, random, last });
    expect(next).toBe(`${last.slice(0, -1)}1`);
  });

  it('carries an overflow into the time', () => {
    const last = '01KBEST000ZZZZZZZZZZZZZZZZ' as Ulid;
    expect(nextUlid({ now: 0, random, last })).toBe('01KBEST0010000000000000000');
  });
});
