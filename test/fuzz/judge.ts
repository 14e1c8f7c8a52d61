import { MeshError } from '@git-mesh/core';

/** Milliseconds of processor time for one file; elapsed time would count what else the machine does. */
const longestMs = 1_000;

/** What a case did that it must not, in words; null where all is well. */
export type Verdict = string | null;

/** A value or a MeshError, and neither after longer than a second. */
export async function judge(work: () => unknown, { limitMs = longestMs }: { limitMs?: number } = {}): Promise<Verdict> {
  const before = process.cpuUsage();
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MeshError)) return `threw ${error instanceof Error ? String(error.stack) : String(error)}`;
    if (error.message === '') return 'threw a MeshError that says nothing';
  }
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  return ms > limitMs ? `took ${Math.round(ms)} ms` : null;
}
