import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { Lane } from './lane.js';
import type { Outcome } from './lane.js';
import { operations } from './operations.js';
import type { Point } from './victim.js';

// `npm run crash-points`: every operation is killed at every point of it. With arguments only what they name:
// [--every N] [--minutes N] [--dir FOLDER] [OPERATION[;OPERATION] [disk|process N WHEN]]
// --dir is where the stores are made (default: the folder for temporary files): quickest in /dev/shm. After so many
// minutes (default: 60) no further operation is begun, and those that are left are named.

const lanes = 2;

function nth(points: readonly Point[], every: number): Point[] {
  return points.filter((_, index) => index % every === 0 || index === points.length - 1);
}

function chooser(args: readonly string[], every: number): (points: Point[]) => readonly Point[] {
  const [of, at, when] = args;
  if (of === undefined) return (points) => nth(points, every);
  return (points) => {
    const found = points.filter((point) => point.of === of && String(point.at) === at && point.when === when);
    if (found.length === 0) throw new Error(`there is no point ${args.join(' ')}: expected as in "disk 12 before"`);
    return found;
  };
}

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Throws for what is no option, or one without its value. */
function options(args: string[]): { every: number; limitMs: number; dir: string; rest: string[] } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      every: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '60' },
      dir: { type: 'string', default: tmpdir() },
    },
  });
  return {
    every: Number(values.every),
    limitMs: Number(values.minutes) * 60_000,
    dir: values.dir,
    rest: positionals,
  };
}

async function main(args: string[]): Promise<boolean> {
  const { every, limitMs, dir, rest } = options(args);
  const [only, ...point] = rest;
  const names = only === undefined ? Object.keys(operations) : only.split(';');
  const choose = chooser(point, every);
  const began = performance.now();
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    const lane = new Lane(dir);
    try {
      while (performance.now() - began < limitMs) {
        const name = names.shift();
        if (name === undefined) break;
        const outcome = await lane.run(name, choose);
        outcomes.push(outcome);
        print(row(outcome));
        for (const failure of outcome.failures) {
          const { of, at, when } = failure.point;
          print(
            `  FAILED  npm run crash-points -- "${name}" ${of} ${at} ${when}   (${failure.step}): ${failure.message}`,
          );
        }
      }
    } finally {
      lane.remove();
    }
  };
  print(
    `${'operation'.padEnd(34)}${'points'.padStart(8)}${'run'.padStart(8)}${'killed'.padStart(8)}${'passed'.padStart(8)}`,
  );
  await Promise.all(Array.from({ length: Math.min(lanes, names.length) }, work));
  const total = (of: (outcome: Outcome) => number): number => outcomes.reduce((sum, outcome) => sum + of(outcome), 0);
  const failed = total(({ failures }) => failures.length);
  print(
    row({
      operation: 'all',
      all: total((o) => o.all),
      run: total((o) => o.run),
      killed: total((o) => o.killed),
      failures: outcomes.flatMap(({ failures }) => failures),
    }),
  );
  print(`${Math.round((performance.now() - began) / 1000)} s`);
  if (names.length > 0) print(`out of time; what is left: npm run crash-points -- "${names.join(';')}"`);
  return failed === 0 && names.length === 0;
}

function row({ operation, all, run, killed, failures }: Outcome): string {
  const numbers = [all, run, killed, run - failures.length].map((n) => String(n).padStart(8));
  return `${operation.padEnd(34)}${numbers.join('')}`;
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
