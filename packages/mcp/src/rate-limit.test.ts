import { expect, test } from 'vitest';
import { RateLimit } from './rate-limit.js';

test('what is beyond the rate is counted, and told with the next that is not', () => {
  let now = 0;
  const rate = new RateLimit({ perMinute: 3, now: () => now });
  expect(
    [rate.take(), rate.take(), rate.take(), rate.take(), rate.take()].map((each) => each?.leftOut ?? null),
  ).toEqual([0, 0, 0, null, null]);
  now += 20_000;
  expect(rate.take()).toEqual({ leftOut: 2 });
  now -= 1_000_000;
  expect(rate.take()).toBeNull();
});
