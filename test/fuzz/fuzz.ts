import { randomInt } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuzz } from './run.js';
import { Watchdog } from './watchdog.js';

const usage = `npm run fuzz -- [--minutes M] [--seed N]

Feeds files, objects, fetch answers and whole branches that are wrong in every way to what reads them. Expected is a
value or a named error, within a second of processor time for a file, nothing written outside of a store, and no branch
accepted without its key's signature. Exits 1, and keeps what did otherwise, where anything is wrong.

  --minutes   default 2, at most 600
  --seed      default: a random one, which is printed; the same seed makes the same cases in the same order
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function numberOf(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text);
  if (!(value >= least && value <= most))
    throw new Error(`--${name} takes a number from ${least} to ${most}, not ${text}`);
  return value;
}

async function run(): Promise<number> {
  const minutes = numberOf('minutes', values.minutes, { least: 0.05, most: 600 });
  const seed =
    values.seed === undefined ? randomInt(2 ** 31) : numberOf('seed', values.seed, { least: 0, most: 2 ** 31 });
  process.stderr.write(`seed ${seed}\n`);
  const watchdog = new Watchdog(['files', 'objects', 'answers', 'branches']);
  const kept: string[] = [];
  const { cases, findings } = await fuzz({
    seed,
    seconds: minutes * 60,
    onCase: (name, number) => {
      watchdog.begin(name, number);
    },
    onFinding: ({ target, number, of, verdict, input }) => {
      const folder = kept[0] ?? mkdtempSync(join(tmpdir(), 'mesh-fuzz-findings-'));
      if (kept.length === 0) kept.push(folder);
      writeFileSync(join(folder, `${target}-${number}`), input);
      process.stderr.write(`${target} ${number}: ${of}: ${verdict}\n`);
    },
  });
  await watchdog.end();
  const counts = Object.entries(cases).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`seed ${seed}: ${counts.join(', ')}; ${findings.length} findings\n`);
  if (kept.length > 0) process.stdout.write(`what did it is kept in ${kept.join()}\n`);
  return kept.length > 0 ? 1 : 0;
}

if (values.help) process.stdout.write(usage);
else process.exitCode = await run();
