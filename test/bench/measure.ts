/** Milliseconds that one run took. */
export async function timed(run: () => unknown): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)];
  const high = sorted[Math.ceil(at)];
  if (low === undefined || high === undefined) throw new Error('no values');
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** One comparison: milliseconds of each run, ours and stock git's, taken in turns. */
export interface Comparison {
  name: string;
  /** Messages in the history. */
  history: number;
  ours: number[];
  git: number[];
  /** The highest ratio of the medians that is aimed at. */
  aim: number;
}
