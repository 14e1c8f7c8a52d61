import type { Clock } from '../domain/clock.js';
import type { EpochMillis } from '../domain/ids.js';

export interface ManualClock extends Clock {
  /** Moves the time on, or back where `ms` is negative. */
  advance(ms: number): void;
  set(at: EpochMillis): void;
}

/** A clock that stands still until it is told. It begins at 2026-12-02T10:00:00.000Z where nothing else is said. */
export function manualClock(start: EpochMillis = Date.parse('2026-12-02T10:00:00.000Z')): ManualClock {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    set: (at) => {
      now = at;
    },
  };
}
