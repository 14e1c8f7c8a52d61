import { createCipheriv } from 'node:crypto';
import { array, assert, integer, nat, property, record, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { DeltaBase, encodeDelta } from './delta-encoder.js';
import { applyDelta } from './pack-delta.js';

const edit = record({ from: nat(), length: nat({ max: 3000 }), instead: uint8Array({ maxLength: 40 }) });

/** Moves, drops and repeats parts, with something new between. */
function edited(base: Uint8Array, edits: readonly { from: number; length: number; instead: Uint8Array }[]): Buffer {
  return Buffer.concat(
    edits.flatMap(({ from, length, instead }) => {
      const at = base.length === 0 ? 0 : from % base.length;
      return [base.subarray(at, at + length), instead];
    }),
  );
}

test('a delta makes the content of its base, whatever the two are, or is not given where it would be too long', () => {
  assert(
    property(
      uint8Array({ maxLength: 9000 }),
      array(edit, { maxLength: 8 }),
      integer({ min: 0, max: 4000 }),
      (base, edits, maxBytes) => {
        const content = edited(base, edits);
        for (const most of [maxBytes, 60_000]) {
          const delta = encodeDelta(new DeltaBase(base), content, most);
          if (delta === null) {
            expect(most).not.toBe(60_000);
            continue;
          }
          expect(delta.length).toBeLessThanOrEqual(most);
          expect(Buffer.compare(applyDelta(base, delta), content)).toBe(0);
        }
      },
    ),
  );
});

/** The same each time, and nowhere like itself. */
const noise = (length: number, seed: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(length));

test('what was put in between costs a few bytes more than itself', () => {
  const base = noise(20_000, 1);
  const content = Buffer.concat([base.subarray(0, 9000), Buffer.from('here'), base.subarray(9000)]);
  expect(encodeDelta(new DeltaBase(base), content, 1000)?.length).toBeLessThan(30);
});

test.each([300, 20_000])('what changed in several places of %i bytes costs little more than the changes', (length) => {
  const base = noise(length, 1);
  const content = Buffer.from(base);
  for (let n = 1; n <= 4; n++) noise(20, 7 * n).copy(content, Math.floor((n * length) / 5));
  expect(encodeDelta(new DeltaBase(base), content, 1000)?.length).toBeLessThan(4 * 20 + 60);
});

test('what is longer than the longest copy is copied in pieces', () => {
  const base = noise(200_000, 1);
  const content = Buffer.concat([Buffer.from('first'), base]);
  const delta = encodeDelta(new DeltaBase(base), content, 1000);
  expect(delta?.length).toBeLessThan(50);
  expect(Buffer.compare(applyDelta(base, delta ?? base), content)).toBe(0);
});
