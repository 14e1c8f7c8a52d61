import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Handle } from './ids.js';
import { clockStepMs, provenSkew, skewReports } from './skew.js';

const minute = 60_000;
const start = 1_796_187_600_000;

/** True times; the other clock is `offset` from ours, whole commits are dated to the second as git does. */
const story = fc.record({
  offset: fc.integer({ min: -30 * minute, max: 30 * minute }),
  made: fc.integer({ min: 0, max: 1000 * minute }),
  readAfter: fc.nat({ max: 1000 * minute }),
  nextAfter: fc.nat({ max: 1000 * minute }),
  delay: fc.nat({ max: 1000 * minute }),
});
const second = (ms: number): number => Math.floor(ms / 1000) * 1000;

test('a delay of any length is never taken for a wrong clock, and no more is proven than is true', () => {
  fc.assert(
    fc.property(story, fc.boolean(), ({ offset, made, readAfter, nextAfter, delay }, hasRead) => {
      const read = start + made + readAfter;
      const newest = read + nextAfter;
      const skew = provenSkew({
        newest: { datedAt: second(newest + offset), arrivedAt: newest + delay },
        read: hasRead ? { datedAt: read + offset, madeAt: second(start + made) } : null,
      });
      if (skew !== 0) expect(Math.sign(skew)).toBe(Math.sign(offset));
      expect(Math.abs(skew)).toBeLessThanOrEqual(Math.abs(offset));
    }),
  );
});

test('what goes back and forth within a second proves the difference to a second or two', () => {
  fc.assert(
    fc.property(story, fc.nat({ max: 1000 }), ({ offset, made }, delay) => {
      const read = start + made + delay;
      const skew = provenSkew({
        newest: { datedAt: second(read + offset), arrivedAt: read + delay },
        read: { datedAt: read + offset, madeAt: second(start + made) },
      });
      if (Math.abs(offset) > clockStepMs + 2000) expect(Math.abs(skew - offset)).toBeLessThanOrEqual(2000);
    }),
  );
});

test('a clock that was behind and is right again is behind no longer', () => {
  const read = { datedAt: start - 10 * minute, madeAt: start };
  const arrivedAt = start + 60 * minute;
  expect(provenSkew({ newest: { datedAt: start - 10 * minute, arrivedAt }, read })).toBe(-10 * minute);
  expect(provenSkew({ newest: { datedAt: arrivedAt - 3 * minute, arrivedAt }, read })).toBe(-3 * minute);
  expect(provenSkew({ newest: { datedAt: arrivedAt - 1000, arrivedAt }, read })).toBe(0);
  expect(provenSkew({ newest: { datedAt: arrivedAt + 10 * minute, arrivedAt }, read })).toBe(10 * minute);
});

const machines = (...skews: number[]): { machine: Handle; skewMs: number }[] =>
  skews.map((skewMs, n) => ({ machine: `m${n}` as Handle, skewMs: skewMs * minute }));

test('two minutes are borne, more is reported', () => {
  expect(skewReports(machines(2, -2, 0))).toEqual([]);
  expect(skewReports(machines(3, -4, 0))).toMatchObject([
    { machine: 'm0', skewMs: 3 * minute, ownLikely: false },
    { machine: 'm1', skewMs: -4 * minute, ownLikely: false },
  ]);
});

test('where most others differ in the same way, the own clock is the wrong one', () => {
  expect(skewReports(machines(10, 9, 0)).map(({ ownLikely }) => ownLikely)).toEqual([true, true]);
  expect(skewReports(machines(10, -9, 0)).map(({ ownLikely }) => ownLikely)).toEqual([false, false]);
  expect(skewReports(machines(10, 9, 0, 0)).map(({ ownLikely }) => ownLikely)).toEqual([false, false]);
  expect(skewReports(machines(10)).map(({ ownLikely }) => ownLikely)).toEqual([false]);
});
