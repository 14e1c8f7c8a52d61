import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { applyDelta, makeDelta } from './pack-delta.js';

test('a delta makes the target of its base, whatever the two are', () => {
  assert(
    property(uint8Array({ maxLength: 600 }), uint8Array({ maxLength: 600 }), (base, target) => {
      expect(applyDelta(base, makeDelta(base, target))).toEqual(target);
    }),
  );
});

test('what both begin and end with costs nothing, also past the longest copy', () => {
  const base = new Uint8Array(17 * 1024 * 1024).map((_, n) => n % 251);
  const target = Buffer.concat([base.subarray(0, 300_000), Buffer.from([7, 7, 7]), base.subarray(300_000)]);
  const delta = makeDelta(base, target);
  expect(delta.length).toBeLessThan(60);
  expect(Buffer.compare(applyDelta(base, delta), target)).toBe(0);
});
