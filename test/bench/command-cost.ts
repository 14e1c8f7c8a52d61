import { execFileSync } from 'node:child_process';
import type { Environment } from '../environment.js';

/** Milliseconds of one process: by the clock, and of processor time, user and system. */
export interface Cost {
  wall: number;
  cpu: number;
}

/** Bash tells what a child took to the millisecond; Node tells it only of itself. */
const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" >/dev/null 2>&1 </dev/null';

/** Runs Node with these arguments to its end. */
export function costOf(args: readonly string[], options: { env: Environment; cwd: string }): Cost {
  const timing = execFileSync('bash', ['-c', `{ ${script}; } 2>&1; true`, '-', process.execPath, ...args], {
    ...options,
    encoding: 'utf8',
  });
  const [wall = NaN, user = NaN, system = NaN] = timing.trim().split(' ').map(Number);
  return { wall: wall * 1000, cpu: (user + system) * 1000 };
}
