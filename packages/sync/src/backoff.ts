import type { EpochMillis } from '@git-mesh/core';

const firstDelayMs = 1_000;
/** No remote waits longer than this. */
export const longestDelayMs = 60_000;
const busyForMs = 120_000;
const busyPollMs = 1_000;
const longestPollMs = 30_000;

/**
 * Milliseconds until a remote is tried again after `failures` failures in a row: 1 s doubling to 60 s, of which the
 * upper half is chance, so that machines that lost a remote together do not come back together. 0 without a failure.
 * `random` gives numbers from 0 up to 1.
 */
export function nextDelay({ failures, random }: { failures: number; random: () => number }): number {
  if (failures <= 0) return 0;
  // The exponent is capped too: 2 ** 2000 is Infinity.
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 16));
  return Math.round(full / 2 + (full / 2) * random());
}

/**
 * Milliseconds until a remote that cannot be watched is asked again: 1 s while there was activity in the last two
 * minutes, then double the `previous` delay up to 30 s. A clock that was set back counts as activity.
 */
export function pollDelay({
  lastActivityAt,
  now,
  previous,
}: {
  lastActivityAt: EpochMillis | null;
  now: EpochMillis;
  previous: number | null;
}): number {
  if (lastActivityAt !== null && now - lastActivityAt <= busyForMs) return busyPollMs;
  if (previous === null || previous < busyPollMs) return busyPollMs;
  return Math.min(longestPollMs, previous * 2);
}
