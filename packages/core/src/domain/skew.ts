import type { EpochMillis, Handle } from './ids.js';

/** Machines' clocks are put right by as much every now and then: less is no sign of one that is wrong. */
export const clockStepMs = 5_000;
/** Clocks that are nearer to one another than this do no harm. */
export const maxSkewMs = 120_000;

/** What this machine holds in hand about the clock of another one. */
export interface ClockEvidence {
  /** That machine's newest accepted commit: its date by its own clock, and its arrival here by ours. */
  newest: { datedAt: EpochMillis; arrivedAt: EpochMillis };
  /**
   * A statement of that machine, dated by its clock, that it read a commit of ours, which was made at `madeAt` by ours.
   * Null where there is none.
   */
  read: { datedAt: EpochMillis; madeAt: EpochMillis } | null;
}

/**
 * How far the other clock is proven to be ahead of ours (positive) or behind it (negative), in milliseconds; 0 where
 * nothing is proven. Nothing arrives before it was made, so a date after the arrival proves a clock that is ahead;
 * nothing is read before it was made, so a reading dated before that proves one that is behind. A delay makes either
 * proof weaker and never makes one up. The newest commit limits what an older reading proves: a clock that was behind
 * and dates its commits rightly now is behind no longer.
 */
export function provenSkew({ newest, read }: ClockEvidence): number {
  const atLeast = newest.datedAt - newest.arrivedAt;
  if (atLeast > clockStepMs) return atLeast;
  if (read === null) return 0;
  const atMost = Math.max(read.datedAt - read.madeAt, atLeast);
  return atMost < -clockStepMs ? atMost : 0;
}

export interface MachineSkew {
  machine: Handle;
  /** As {@link provenSkew} gives it. */
  skewMs: number;
}

/** Clocks that differ enough to be reported, with what the rest of the mesh says of whose fault it is. */
export interface SkewReport extends MachineSkew {
  /** True where most other machines differ in the same direction: then it is this machine's own clock. */
  ownLikely: boolean;
}

/** `machines` are all others of the mesh, those about whom nothing is proven too (0). */
export function skewReports(machines: readonly MachineSkew[]): SkewReport[] {
  const wrong = machines.filter(({ skewMs }) => Math.abs(skewMs) > maxSkewMs);
  return wrong.map(({ machine, skewMs }) => {
    const alike = wrong.filter((other) => Math.sign(other.skewMs) === Math.sign(skewMs)).length;
    return { machine, skewMs, ownLikely: alike > 1 && alike * 2 > machines.length };
  });
}
