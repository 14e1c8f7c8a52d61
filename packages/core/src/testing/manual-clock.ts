import type { Clock } from '../domain/clock.js';
import type { EpochMillis } from '../domain/ids.js';

export interface ManualClock extends Clock {
  /** Lets time pass; where `ms` is negative, sets the clock back. */
  advance(ms: number): void;
  /** Sets the clock: no time passes. */
  set(at: EpochMillis): void;
  steady(): number;
}

/** A clock that stands still until it is told. It begins at 2026-12-02T10:00:00.000Z where nothing else is said. */
export function manualClock(start: EpochMillis = Date.parse('2026-12-02T10:00:00.000Z')): ManualClock {
  let now = start;
  let passed = 0;
  return {
    now: () => now,
    steady: () => passed,
    advance: (ms) => {
      now += ms;
      passed += Math.max(0, ms);
    },
    set: (at) => {
      now = at;
    },
  };
}
