import { describe, expect, it } from 'vitest';
import { nextDelay, pollDelay } from './backoff.js';

describe('nextDelay', () => {
  it('doubles from a second to a minute, of which half is chance', () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 8, 5_000].map((failures) => nextDelay({ failures, random: () => 1 }));
    expect(most).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(nextDelay({ failures: 3, random: () => 0 })).toBe(2_000);
  });

  it('is nothing where nothing failed', () => {
    expect(nextDelay({ failures: 0, random: () => 1 })).toBe(0);
  });
});

describe('pollDelay', () => {
  const now = 10_000_000;

  it('is a second for two minutes after any activity', () => {
    for (const lastActivityAt of [now, now - 120_000, now + 5_000]) {
      expect(pollDelay({ lastActivityAt, now, previous: 30_000 })).toBe(1_000);
    }
  });

  it('is a fifth of a second while an agent waits, and six times what asking took, up to a second', () => {
    const delay = (tookMs: number): number =>
      pollDelay({ lastActivityAt: null, now, previous: 30_000, waitingUntil: now + 1, tookMs });
    expect([0, 20, 50, 100, 166, 5_000].map(delay)).toEqual([200, 200, 300, 600, 996, 1_000]);
    expect(pollDelay({ lastActivityAt: now, now, previous: 30_000, waitingUntil: now, tookMs: 1 })).toBe(1_000);
  });

  it('then doubles to half a minute', () => {
    const delays = [pollDelay({ lastActivityAt: now - 120_001, now, previous: null })];
    while (delays.length < 8) delays.push(pollDelay({ lastActivityAt: null, now, previous: delays.at(-1)! }));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });
});
