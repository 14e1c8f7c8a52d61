import type { EpochMillis } from './ids.js';

/** Passed to whatever needs the time, so that rules stay pure and tests choose it. */
export interface Clock {
  now(): EpochMillis;
}

/** Fills `length` bytes with randomness good enough for identifiers and keys. */
export type RandomBytes = (length: number) => Uint8Array;
