import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launcher } from '../environment.js';
import { soak } from './run.js';
import { type FaultKind, faultKinds } from './schedule.js';
import { asList, asTable } from './summary.js';

const usage = `npm run soak -- [--seed N] [--minutes M] [--machines N] [--faults LIST] [--busy N] [--json FILE]

Lets machines send, read and acknowledge while processes are killed and held up, the remote goes away, is slow and
refuses, a disk fills up and clocks are wrong; then compares what was accepted with what is there. The same seed gives
the same plan. Exits 1, and keeps its folder, where anything is wrong.

  --seed      default: a random one, which is printed
  --minutes   of work and faults, default 3, at most 30; the beginning and the end take up to two and a half more
  --machines  default 6
  --faults    of ${faultKinds.join(', ')}; default: all of them; none: no faults
  --busy      how many times as many calls in the same time, default 1
  --json      the file that takes the summary and the findings
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    machines: { type: 'string', default: '6' },
    faults: { type: 'string', default: faultKinds.join(',') },
    busy: { type: 'string', default: '1' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function numberOf(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text);
  if (!(value >= least && value <= most))
    throw new Error(`--${name} takes a number from ${least} to ${most}, not ${text}`);
  return value;
}

function faultsOf(text: string): FaultKind[] {
  if (text === 'none') return [];
  return text.split(',').map((name) => {
    const kind = faultKinds.find((one) => one === name);
    if (kind === undefined) throw new Error(`--faults takes ${faultKinds.join(', ')} or none, not ${name}`);
    return kind;
  });
}

async function run(): Promise<number> {
  const seed =
    values.seed === undefined ? randomInt(2 ** 31) : numberOf('seed', values.seed, { least: 0, most: 2 ** 31 });
  const minutes = numberOf('minutes', values.minutes, { least: 0.05, most: 30 });
  const machines = numberOf('machines', values.machines, { least: 1, most: 20 });
  const busy = numberOf('busy', values.busy, { least: 0.1, most: 20 });
  const progress = (line: string): void => {
    process.stderr.write(`${Math.round(performance.now() / 1000)} s: ${line}\n`);
  };
  progress(`seed ${seed}`);
  const { summary, findings, kept } = await soak({
    launcher,
    seed,
    machines: Math.floor(machines),
    seconds: minutes * 60,
    faults: faultsOf(values.faults),
    pace: { serverMs: 600 / busy, commandMs: 4_000 / busy, faultMs: 1_200 },
    onProgress: progress,
  });
  process.stdout.write(asTable(summary));
  if (values.json !== undefined) {
    writeFileSync(values.json, `${JSON.stringify({ summary, findings }, null, 2)}\n`);
  }
  if (kept === null) return 0;
  writeFileSync(join(kept, 'findings.json'), `${JSON.stringify({ summary, findings }, null, 2)}\n`);
  process.stdout.write(`\n${asList(findings)}\nseed ${seed}; stores, logs and findings.json are kept in ${kept}\n`);
  return 1;
}

if (values.help) process.stdout.write(usage);
else process.exitCode = await run();
