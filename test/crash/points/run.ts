import { Lane } from './lane.js';
import type { Outcome } from './lane.js';
import { operations } from './operations.js';
import type { Point } from './victim.js';

// `npm run crash-points`: every operation is killed at every point of it. With arguments only what they name:
// [--every N] [OPERATION[;OPERATION] [disk|process N WHEN]]

const lanes = 2;
/** Past this no further operation is begun. */
const limitMs = 20 * 60_000;

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

async function main(args: string[]): Promise<boolean> {
  const flag = args.indexOf('--every');
  const every = flag === -1 ? 1 : Number(args.splice(flag, 2)[1]);
  const [only, ...point] = args;
  const names = only === undefined ? Object.keys(operations) : only.split(';');
  const choose = chooser(point, every);
  const began = performance.now();
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    const lane = new Lane();
    try {
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        if (performance.now() - began > limitMs) throw new Error(`out of time before ${name}`);
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
  return failed === 0;
}

function row({ operation, all, run, killed, failures }: Outcome): string {
  const numbers = [all, run, killed, run - failures.length].map((n) => String(n).padStart(8));
  return `${operation.padEnd(34)}${numbers.join('')}`;
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
