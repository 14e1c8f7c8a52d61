import type { Clock } from '../domain/clock.js';

/** For durations: the difference of two is what passed between them, whatever was done to the clock meanwhile. */
export const steadyNow = (clock: Clock): number => clock.steady?.() ?? performance.now();
