import { setTimeout as sleep } from 'node:timers/promises';
import { isStopped } from '../process-state.js';
import { now } from './answer.js';
import type { Ledger } from './ledger.js';
import type { SoakMachine } from './machine.js';
import type { SoakRemote } from './remote.js';
import type { ResidentProcess } from './resident-process.js';
import type { FaultStep } from './schedule.js';
import type { SmallDisk } from './small-disk.js';

/** How often each fault really happened. */
export interface FaultCounts {
  kills: number;
  pauses: number;
  outages: number;
  slow: number;
  fullDisks: number;
}

export interface FaultOptions {
  ledger: Ledger;
  machines: SoakMachine[];
  remote: SoakRemote;
  disk: SmallDisk | null;
  counts: FaultCounts;
  startedAt: number;
  /** Ends every fault early. */
  over: AbortSignal;
}

const callWaitMs = 3_000;

/** Makes the faults of a schedule happen, each at its time, however many overlap. Resolves when all are lifted. */
export async function runFaults(options: FaultOptions, steps: readonly FaultStep[]): Promise<void> {
  await Promise.all(steps.map((step) => runFault(options, step)));
}

async function runFault(options: FaultOptions, step: FaultStep): Promise<void> {
  const { counts, machines, remote, disk, over } = options;
  if (!(await pause(options.startedAt + step.at - now(), over))) return;
  switch (step.fault) {
    case 'kill':
      return kill(options, machines[step.machine], step);
    case 'pause':
      return holdUp(options, machines[step.machine], step);
    case 'outage':
      counts.outages += 1;
      remote.goAway();
      await pause(step.ms, over);
      remote.comeBack();
      return;
    case 'slow':
      counts.slow += 1;
      remote.delayPushes(step.delayMs);
      await pause(step.ms, over);
      remote.liftDelay();
      return;
    case 'refuse':
      remote.refusePushes(step.percent);
      await pause(step.ms, over);
      remote.liftRefusal();
      return;
    case 'full':
      counts.fullDisks += 1;
      disk?.fill();
      await pause(step.ms, over);
      disk?.free();
  }
}

async function atItsMoment(process: ResidentProcess, inCall: number | null): Promise<void> {
  if (inCall === null) return;
  await process.nextCall(callWaitMs);
  await sleep(inCall);
}

async function kill(
  { counts, over }: FaultOptions,
  machine: SoakMachine | undefined,
  { victim, inCall, downMs }: FaultStep & { fault: 'kill' },
): Promise<void> {
  const process = machine?.resident(victim);
  if (process === undefined) return;
  await atItsMoment(process, inCall);
  if (over.aborted || !(await process.kill())) return;
  counts.kills += 1;
  await pause(downMs, over);
  await process.start();
}

async function holdUp(
  { counts, ledger, over }: FaultOptions,
  machine: SoakMachine | undefined,
  { victim, inCall, ms }: FaultStep & { fault: 'pause' },
): Promise<void> {
  const process = machine?.resident(victim);
  if (process === undefined) return;
  await atItsMoment(process, inCall);
  const { pid } = process;
  if (over.aborted || pid === null || !process.signal(pid, 'SIGSTOP')) return;
  counts.pauses += 1;
  await pause(ms, over);
  if (!process.signal(pid, 'SIGCONT') || isOver(over)) return;
  for (let looks = 0; looks < 10; looks++) {
    // Killed or held up once more meanwhile is no failure to go on.
    if ((await process.isWell()) || process.pid !== pid || isStopped(pid) || isOver(over)) return;
    await sleep(300);
  }
  ledger.faults.push({ kind: 'hung', text: `${process.name} did not go on after it was held up for ${ms} ms` });
}

/** A function, since it changes during any await, which the compiler would not believe of the property. */
const isOver = (over: AbortSignal): boolean => over.aborted;

/** False where it was cut short. */
async function pause(ms: number, over: AbortSignal): Promise<boolean> {
  try {
    await sleep(Math.max(0, ms), undefined, { signal: over });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  }
}
