import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dayTable, measureDay } from './day.js';
import { makeBulkHistory } from './bulk-history.js';
import { makeHistory } from './history.js';
import { crowdTable, measureCrowd } from './crowd.js';
import { busyTable, measureBusy } from './busy-mesh.js';
import { growthTable, measureGrowth } from './growth.js';
import { idleTable, measureIdle } from './idle.js';
import { maintainTable, measureMaintain } from './maintain.js';
import { journalTable, measureJournal } from './journal.js';
import { type Joining, joinTable, measureJoin } from './join.js';
import { type LongSend, longSendTable, measureLongSend } from './long-send.js';
import type { Comparison } from './measure.js';
import { measureMemory, memoryTable } from './memory.js';
import { asTable, report } from './report.js';
import { measureNoop, measureRound } from './round.js';
import { measureSend } from './send.js';
import { measureStart, startTable } from './start.js';
import { measureVerify, verifyTable } from './verify.js';
import { measureWake, wakeTable } from './wake.js';

const usage = `npm run bench -- [--only send,round,noop,idle,verify,wake,start,journal,memory,day,maintain,growth,crowd,busy,long-send,join]
                    [--history 100,10000] [--runs 40] [--machines 2,8,20,50] [--live 10000] [--long 0,1000,10000,100000]
                    [--dir FOLDER] [--json FILE]

Compares git-mesh with stock git, both measured in turns in one run, and prints medians, their ratio and the aim.
--long is the lengths of the histories of long-send and join, which are made in bulk.
--dir is where the repositories are made (default: the folder for temporary files); its file system matters.
`;

const measures = { send: measureSend, round: measureRound, noop: measureNoop };
/** On histories of their own. */
const others = [
  'idle',
  'verify',
  'wake',
  'start',
  'journal',
  'memory',
  'day',
  'maintain',
  'growth',
  'crowd',
  'busy',
  'long-send',
  'join',
];
const isMeasure = (name: string): name is keyof typeof measures => Object.hasOwn(measures, name);

/** Messages for each transport. */
const wakes = 50;
/** Messages in the tip of a long history, and how often each way to join it is measured. */
const live = 1_000;
const joins = 5;

const { values } = parseArgs({
  options: {
    only: {
      type: 'string',
      default: 'send,round,noop,idle,verify,wake,start,journal,memory,day,maintain,growth,crowd,busy,long-send,join',
    },
    history: { type: 'string', default: '100,10000' },
    runs: { type: 'string', default: '40' },
    long: { type: 'string', default: '0,1000,10000,100000' },
    live: { type: 'string', default: '10000' },
    machines: { type: 'string', default: '2,8,20,50' },
    dir: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

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
        comparisons.push(await measures[name](machines, { root: place, history, runs: Number(values.runs) }));
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
    if (names.includes('wake')) process.stdout.write(`\n${wakeTable(await measureWake(root, wakes, progress))}\n`);
    if (names.includes('start')) {
      progress('measuring what it takes to start');
      process.stdout.write(`\n${startTable(await measureStart(root, Number(values.runs)))}\n`);
    }
    if (names.includes('journal')) {
      progress('measuring what a command costs after many messages');
      process.stdout.write(`\n${journalTable(await measureJournal(root, [1_000, 10_000, 50_000], 5))}\n`);
    }
    if (names.includes('memory')) {
      progress('measuring the memory of a resident server');
      process.stdout.write(`\n${memoryTable(await measureMemory(root, 10_000, progress))}\n`);
    }
    if (names.includes('day')) {
      progress('measuring the memory of two machines over three simulated days');
      process.stdout.write(`\n${dayTable(await measureDay(mkdtempSync(join(root, 'day-')), 3, progress))}\n`);
    }
    if (names.includes('maintain')) {
      progress('measuring cold reads without and with maintenance, after 2,000 fetches');
      const place = mkdtempSync(join(root, 'maintain-'));
      process.stdout.write(`\n${maintainTable(await measureMaintain(place, { fetches: 2_000, runs: 5 }))}`);
    }
    if (names.includes('growth')) {
      const messages = Math.max(...values.history.split(',').map(Number));
      progress(`measuring bytes a message after ${messages}`);
      const place = mkdtempSync(join(root, 'growth-'));
      process.stdout.write(`\n${growthTable(messages, await measureGrowth(place, messages))}`);
    }
    if (names.includes('crowd')) {
      const crowds = [];
      for (const machines of values.machines.split(',').map(Number))
        crowds.push(...(await measureCrowd(root, machines, progress)));
      process.stdout.write(`\n${crowdTable(crowds)}\n`);
    }
    if (names.includes('busy')) {
      progress('measuring answers in a mesh with much in it');
      const options = { machines: 50, agents: 500, messages: Number(values.live), runs: Number(values.runs) };
      const place = mkdtempSync(join(root, 'busy-'));
      process.stdout.write(`\n${busyTable(options, await measureBusy(place, options, progress))}\n`);
    }
    const long = names.includes('long-send') || names.includes('join') ? await runLong(root, names) : {};
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...result, ...long }, null, 2)}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What both take for granted is made once for each length. */
async function runLong(root: string, names: readonly string[]): Promise<{ sends: LongSend[]; joinings: Joining[] }> {
  const sends: LongSend[] = [];
  const joinings: Joining[] = [];
  for (const history of values.long.split(',').map(Number)) {
    const place = mkdtempSync(join(root, 'long-'));
    progress(`making a history of ${history} messages in bulk`);
    const mesh = await makeBulkHistory(place, history, live);
    const options = { root: place, history, live };
    // First: what is sent afterwards lies in the remote as the sends left it.
    if (names.includes('join')) {
      progress(`measuring how ${history} are joined`);
      joinings.push(...(await measureJoin(mesh, { ...options, runs: joins })));
    }
    if (names.includes('long-send')) {
      progress(`measuring sends after ${history}`);
      sends.push(await measureLongSend(mesh, { ...options, runs: Number(values.runs) }));
    }
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
  if (sends.length > 0) process.stdout.write(`\n${longSendTable(sends)}\n`);
  if (joinings.length > 0) process.stdout.write(`\n${joinTable(joinings)}\n`);
  return { sends, joinings };
}

if (values.help) process.stdout.write(usage);
else await run();
