import type { Problem } from '../domain/results.js';
import { skewReports } from '../domain/skew.js';
import type { SkewReport } from '../domain/skew.js';
import type { MeshContext } from './context.js';
import { machineSkews } from './machine-clocks.js';

/** Machines whose clocks are proven to differ from ours by more than two minutes. */
export async function examineClocks(ctx: MeshContext): Promise<Problem[]> {
  return skewReports(await machineSkews(ctx)).map(clockProblem);
}

function clockProblem({ machine, skewMs, ownLikely }: SkewReport): Problem {
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  const amount = `${Math.round(Math.abs(skewMs) / 1000)} seconds or more`;
  const differs = `the clock of ${machine} is ${direction} this machine’s by ${amount}`;
  const until =
    'agents and messages are judged by the difference until then, and this ends with new commits of that machine';
  return ownLikely
    ? {
        kind: 'clock_skew',
        machine,
        message: `${differs}; most other machines’ are too: this machine’s own clock is likely wrong`,
        fix: `set the clock of this machine right (time synchronisation); ${until}`,
      }
    : {
        kind: 'clock_skew',
        machine,
        message: differs,
        fix: `set the clock right on the machine where it is wrong, ${machine} or this one (time synchronisation); ${until}`,
      };
}
