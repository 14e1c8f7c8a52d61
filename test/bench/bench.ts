import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeHistory } from './history.js';
import { idleTable, measureIdle } from './idle.js';
import type { Comparison } from './measure.js';
import { asTable, report } from './report.js';
import { measureNoop, measureRound } from './round.js';
import { measureSend } from './send.js';
import { measureVerify, verifyTable } from './verify.js';
import { measureWake, wakeTable } from './wake.js';

const usage = `npm run bench -- [--only send,round,noop,idle,verify,wake] [--history 100,10000] [--runs N] [--dir FOLDER] [--json FILE]

Compares git-mesh with stock git, both measured in turns in one run, and prints medians, their ratio and the aim.
--dir is where the repositories are made (default: the folder for temporary files); its file system matters.
`;

const measures = { send: measureSend, round: measureRound, noop: measureNoop };
const others = ['idle', 'verify', 'wake'];
const isMeasure = (name: string): name is keyof typeof measures => Object.hasOwn(measures, name);

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'send,round,noop,idle,verify,wake' },
    history: { type: 'string', default: '100,10000' },
    runs: { type: 'string' },
    dir: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

const runs = (usual: number): number => Number(values.runs ?? usual);

async function run(): Promise<void> {
  const names = values.only.split(',');
  const unknown = names.filter((name) => !isMeasure(name) && !others.includes(name));
  if (unknown.length > 0)
    throw new Error(`--only takes ${[...Object.keys(measures), ...others].join(', ')}, not ${unknown.join(', ')}`);
  const root = mkdtempSync(join(values.dir, 'mesh-bench-'));
  try {
    const comparisons: Comparison[] = [];
    const histories = names.some(isMeasure) ? values.history.split(',').map(Number) : [];
    for (const history of histories) {
      const place = mkdtempSync(join(root, 'history-'));
      progress(`making a history of ${history} messages`);
      const machines = await makeHistory(place, history, (done) => {
        progress(`  ${done} of ${history}`);
      });
      for (const name of names.filter(isMeasure)) {
        progress(`measuring ${name} at ${history}`);
        comparisons.push(await measures[name](machines, { root: place, history, runs: runs(40) }));
      }
      await machines.close();
    }
    const result = report(comparisons);
    process.stdout.write(asTable(result));
    if (names.includes('idle')) {
      for (const machines of [2, 20]) {
        progress(`measuring what an idle machine costs, of ${machines}`);
        process.stdout.write(`\n${idleTable(await measureIdle(root, machines))}\n`);
      }
    }
    if (names.includes('verify')) {
      progress('measuring how fast commits are checked');
      const place = mkdtempSync(join(root, 'verify-'));
      process.stdout.write(`\n${verifyTable(await measureVerify(place, 5))}`);
    }
    if (names.includes('wake')) process.stdout.write(`\n${wakeTable(await measureWake(root, runs(50), progress))}\n`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (values.help) process.stdout.write(usage);
else await run();
