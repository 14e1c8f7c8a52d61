import { randomBytes } from 'node:crypto';
import type { Clock, RandomBytes } from '@git-mesh/core';

/** The real clock and the real randomness. */
export const clock: Clock = { now: () => Date.now() };
export const random: RandomBytes = (length) => randomBytes(length);
