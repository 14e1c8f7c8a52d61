import type { EpochMillis } from './ids.js';

/** Passed to whatever needs the time, so that rules stay pure and tests choose it. */
export interface Clock {
  now(): EpochMillis;
  /**
   * Milliseconds from any origin, that nobody can set back or ahead: for how long something takes, never for when it is.
   * Where left out, the process's own: see `steadyNow`.
   */
  steady?(): number;
}

/** Fills `length` bytes with randomness good enough for identifiers and keys. */
export type RandomBytes = (length: number) => Uint8Array;
