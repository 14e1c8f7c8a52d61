const firstDelayMs = 1_000;
/** No remote waits longer than this. */
export const longestDelayMs = 60_000;
const busyForMs = 120_000;
const busyPollMs = 1_000;
const longestPollMs = 30_000;
/** While an agent waits: no more often than this, and for no more than a sixth of the time. */
const quickPollMs = 200;
const quickShare = 6;

/** A remote that refuses pushes is not asked to take one more seldom than this, while there is nothing else to push. */
export const longestRefusalMs = 900_000;
/** A server may ask us to stay away for so long and no longer. */
export const longestRetryAfterMs = 3_600_000;
const firstCarryRefusalMs = 60_000;
const longestCarryRefusalMs = 3_600_000;

/**
 * Milliseconds until a remote is tried again after `failures` failures in a row: 1 s doubling to 60 s (or `longest`),
 * of which the upper half is chance, so that machines that lost a remote together do not come back together. 0 without
 * a failure. `random` gives numbers from 0 up to 1.
 */
export function nextDelay(options: {
  failures: number;
  random: () => number;
  first?: number;
  longest?: number;
}): number {
  const { failures, random, first = firstDelayMs, longest = longestDelayMs } = options;
  if (failures <= 0) return 0;
  // The exponent is capped too: 2 ** 2000 is Infinity.
  const full = Math.min(longest, first * 2 ** Math.min(failures - 1, 16));
  return Math.round(full / 2 + (full / 2) * random());
}

/** For how long a remote may lack what others wrote before it is carried there: from `least` to `most` milliseconds. */
export interface CarryDelay {
  least: number;
  most: number;
}

export const carryDelay: CarryDelay = { least: 5_000, most: 30_000 };

/**
 * Milliseconds until a branch of which a remote has less is carried there: chance, so that its owner goes first and of
 * several carriers one. After `refusals` in a row 1 minute, doubling to an hour.
 */
export function nextCarry(options: { refusals: number; random: () => number; delay: CarryDelay }): number {
  const { refusals, random, delay } = options;
  if (refusals === 0) return Math.round(delay.least + (delay.most - delay.least) * random());
  return nextDelay({ failures: refusals, random, first: firstCarryRefusalMs, longest: longestCarryRefusalMs });
}

/**
 * Milliseconds until a remote that cannot be watched is asked again: 1 s while there was activity in the last two
 * minutes, then double the `previous` delay up to 30 s; while an agent waits, more often where it `tookMs` little. All times
 * are of a clock that nobody can set.
 */
export function pollDelay({
  lastActivityAt,
  now,
  previous,
  waitingUntil = null,
  tookMs = Number.POSITIVE_INFINITY,
}: {
  lastActivityAt: number | null;
  now: number;
  previous: number | null;
  waitingUntil?: number | null;
  tookMs?: number;
}): number {
  if (waitingUntil !== null && now < waitingUntil)
    return Math.min(busyPollMs, Math.max(quickPollMs, Math.ceil(quickShare * tookMs)));
  if (lastActivityAt !== null && now - lastActivityAt <= busyForMs) return busyPollMs;
  if (previous === null || previous < busyPollMs) return busyPollMs;
  return Math.min(longestPollMs, previous * 2);
}
