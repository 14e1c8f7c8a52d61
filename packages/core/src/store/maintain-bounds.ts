import type { MaintainBounds } from './ports.js';

/** A step holds the store lock, which senders wait for. Others may have looked at a loose object just before. */
export const inBackground: MaintainBounds = {
  whole: false,
  maxObjects: 500,
  maxLooked: 2_000,
  maxBytes: 4 * 1024 * 1024,
  graceMs: 10 * 60_000,
  sliceMs: 4,
  pauseMs: 4,
};
/** As `git gc` does: whoever meets a file that is gone looks again. */
export const byHand: MaintainBounds = {
  whole: true,
  maxObjects: 4_000,
  maxLooked: Infinity,
  maxBytes: 16 * 1024 * 1024,
  graceMs: 0,
  sliceMs: 10,
  pauseMs: 0,
};
