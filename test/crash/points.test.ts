import { afterAll, expect, test } from 'vitest';
import { Lane } from './points/lane.js';
import { operations } from './points/operations.js';
import type { Point } from './points/victim.js';

// A sample of what `npm run crash-points` does at every point of every operation.

const lane = new Lane();
afterAll(() => {
  lane.remove();
});

/** The first point or the last one, and one in the middle that is another one for each operation. */
const sample = (n: number) => (points: Point[]) => {
  const middle = 1 + ((n * 7) % Math.max(1, points.length - 2));
  return [...new Set([n % 2 === 0 ? 0 : points.length - 1, middle])]
    .map((index) => points[index])
    .filter((one) => one !== undefined);
};

test.each(Object.keys(operations).map((name, n): [string, number] => [name, n]))(
  '%s that is killed at any point took place or did not, and nothing that was accepted is lost',
  async (name, n) => {
    const { failures, killed } = await lane.run(name, sample(n));
    expect(failures).toEqual([]);
    expect(killed).toBeGreaterThan(0);
  },
  120_000,
);
