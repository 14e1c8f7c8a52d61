import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './answer.js';
import { check, type Finding } from './check.js';
import { drain, inTurns } from './drain.js';
import { examine } from './examine.js';
import { type FaultCounts, runFaults } from './fault-lane.js';
import { type LaneOptions, runLane } from './lanes.js';
import { newLedger } from './ledger.js';
import type { Ledger } from './ledger.js';
import { ageGitLocks, processesOf } from './leftovers.js';
import { SoakMachine } from './machine.js';
import { observe } from './observe.js';
import type { Observed } from './observed.js';
import { SoakRemote } from './remote.js';
import { type CallStep, makeSchedule, reader, type Schedule, type ScheduleOptions, sinks } from './schedule.js';
import { type SmallDisk, smallDisk } from './small-disk.js';
import { refusals, type Summary } from './summary.js';

export interface SoakOptions extends ScheduleOptions {
  launcher: string;
  onProgress: (line: string) => void;
  /** Breaks it off: whatever it started is ended at once. */
  signal?: AbortSignal;
}

export interface SoakResult {
  summary: Summary;
  findings: Finding[];
  /** The folder with all stores and logs, kept where something was found; null where it was removed. */
  kept: string | null;
}

/** As long as an agent can stay without a word. */
const sinkTtl = 86_400;
/** An exchange is given up within 25 s, and a few of them bring everything everywhere. */
const drainLimitMs = 120_000;

/** One soak from beginning to end. Rejects only where the harness itself fails. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const root = mkdtempSync(join(tmpdir(), 'mesh-soak-'));
  const run = new Run(options, root);
  const interrupted = (): void => {
    run.abandon();
    process.exit(130);
  };
  const abandoned = (): void => {
    run.abandon();
  };
  options.signal?.addEventListener('abort', abandoned, { once: true });
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  try {
    const { summary, findings } = await run.all();
    run.endAll();
    run.closeDisk({ keep: findings.length > 0 });
    if (findings.length > 0) return { summary, findings, kept: root };
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    return { summary, findings, kept: null };
  } catch (error) {
    run.abandon();
    throw new Error(`the soak broke off; its folder is ${root}`, { cause: error });
  } finally {
    options.signal?.removeEventListener('abort', abandoned);
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  }
}

class Run {
  readonly #options: SoakOptions;
  readonly #root: string;
  readonly #mark: string;
  readonly #schedule: Schedule;
  readonly #ledger: Ledger = newLedger();
  readonly #remote: SoakRemote;
  readonly #disk: SmallDisk | null;
  readonly #machines: SoakMachine[];
  #isDiskClosed = false;
  readonly #counts: FaultCounts = { kills: 0, pauses: 0, outages: 0, slow: 0, fullDisks: 0 };

  constructor(options: SoakOptions, root: string) {
    this.#options = options;
    this.#root = root;
    this.#mark = root;
    this.#schedule = makeSchedule(options);
    this.#remote = new SoakRemote(root);
    this.#disk = this.#schedule.smallDisk === null ? null : smallDisk(root);
    this.#machines = this.#schedule.handles.map((handle, index) => this.#machine(handle, index));
  }

  #machine(handle: string, index: number): SoakMachine {
    return new SoakMachine({
      root: this.#root,
      handle,
      launcher: this.#options.launcher,
      servers: this.#schedule.servers[index] ?? 1,
      skewMs: this.#schedule.skews[index] ?? 0,
      disk: this.#schedule.smallDisk === index ? this.#disk : null,
      mark: this.#mark,
      onUnexpectedEnd: (text) => {
        this.#fault('store', text);
      },
      onBadAnswer: (text) => {
        this.#fault('hung', text);
      },
      onMischief: (how) => {
        if (how === 'kill') this.#counts.kills += 1;
        else this.#counts.pauses += 1;
      },
    });
  }

  async all(): Promise<{ summary: Summary; findings: Finding[] }> {
    const began = now();
    const { onProgress, seconds } = this.#options;
    onProgress(`making a mesh of ${this.#machines.length} machines in ${this.#root}`);
    await this.#found();
    onProgress(`${seconds} seconds of ${this.#schedule.calls.length} calls and ${this.#schedule.faults.length} faults`);
    await this.#work();
    onProgress('all faults lifted; everything starts again and synchronises');
    await this.#restart();
    await drain({ ledger: this.#ledger, machines: this.#machines, remote: this.#remote, limitMs: drainLimitMs });
    onProgress('comparing what was accepted with what is there');
    const observed = await this.#observed();
    await this.#stop();
    await examine({
      machines: this.#machines,
      remote: this.#remote,
      mark: this.#mark,
      root: this.#root,
      isSkewed: this.#schedule.skews.some((skew) => skew !== 0),
      fault: (kind, text) => {
        this.#fault(kind, text);
      },
    });
    const { findings, accepted, delivered } = check(this.#ledger, observed);
    return { summary: this.#summary({ findings, accepted, delivered }, now() - began), findings };
  }

  /** A mesh that does not tell what is in it is a finding, not the end of the looking. */
  async #observed(): Promise<Observed> {
    try {
      return await observe(this.#ledger, this.#machines);
    } catch (error) {
      this.#fault('store', error instanceof Error ? error.message : String(error));
      return { machines: [] };
    }
  }

  #fault(kind: Finding['kind'], text: string): void {
    this.#ledger.faults.push({ kind, text });
  }

  async #found(): Promise<void> {
    for (const [index, machine] of this.#machines.entries()) {
      const how = ['--machine', machine.handle];
      const { path } = this.#remote;
      const made = index === 0 ? await must(machine, ['init', '--remote', path, ...how]) : undefined;
      if (made === undefined) await must(machine, ['join', path, ...how]);
    }
    await inTurns(this.#machines, 3, async (machine) => {
      for (const server of machine.servers) await server.start();
      for (const agent of [...sinks, reader]) {
        const args = { agent_id: agent, ttl_seconds: sinkTtl, confirm: true };
        const answer = await machine.servers[0]?.call('agent_checkin', args);
        if (answer?.outcome !== 'accepted') throw new Error(`${agent} could not check in on ${machine.handle}`);
      }
    });
    // Twice, so that everybody knows everybody's agents.
    for (let pass = 0; pass < 2; pass++) await inTurns(this.#machines, 3, (machine) => must(machine, ['sync']));
    for (const { watch } of this.#machines) await watch.start();
  }

  async #work(): Promise<void> {
    const { calls, faults } = this.#schedule;
    const numbered = calls.map((step, index) => ({ step, nr: index + 1 }));
    const startedAt = now();
    const until = startedAt + this.#options.seconds * 1000;
    const over = new AbortController();
    // Every fault waits for it.
    setMaxListeners(0, over.signal);
    const harm = runFaults(
      {
        ledger: this.#ledger,
        machines: this.#machines,
        remote: this.#remote,
        disk: this.#disk,
        counts: this.#counts,
        startedAt,
        over: over.signal,
      },
      faults,
    );
    const work = lanesOf(numbered).map(async (steps) => {
      const { machine: index, lane } = (steps[0] as { step: CallStep }).step;
      const machine = this.#machines[index];
      if (machine === undefined) return;
      const options: LaneOptions = { ledger: this.#ledger, machine, lane, remote: this.#remote, startedAt, until };
      await runLane(options, steps);
    });
    const all = Promise.all([harm, ...work]);
    // What fails before the end is told at the end.
    all.catch(() => undefined);
    await sleep(until - now());
    over.abort();
    this.#remote.restore();
    this.#disk?.free();
    // Calls that are under way come to their end, now that nothing keeps them from it.
    await all;
  }

  async #restart(): Promise<void> {
    await this.#stop();
    // A git that was killed may have left a lock on a branch there: nobody waits for ten minutes here.
    ageGitLocks(this.#remote.path, { stillMs: 3_000 });
    await inTurns(this.#machines, 3, async ({ residents }) => {
      for (const resident of residents) await resident.start();
    });
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#machines.flatMap(({ residents }) => residents.map((resident) => resident.stop())));
  }

  #summary(checked: { findings: Finding[]; accepted: number; delivered: number }, ms: number): Summary {
    const { seed, machines, seconds } = this.#options;
    const count = (...kinds: Finding['kind'][]): number =>
      checked.findings.filter(({ kind }) => kinds.includes(kind)).length;
    const { acks, sends } = this.#ledger;
    return {
      seed,
      machines,
      seconds,
      sends: sends.length,
      refused: refusals(sends),
      accepted: checked.accepted,
      delivered: checked.delivered,
      duplicated: count('duplicated'),
      lost: count('lost'),
      phantoms: count('phantom'),
      acks: acks.filter(({ outcome }) => outcome === 'accepted').reduce((sum, { ids }) => sum + ids.length, 0),
      kills: this.#counts.kills,
      pauses: this.#counts.pauses,
      outages: this.#counts.outages,
      slow: this.#counts.slow,
      refusals: this.#remote.refusals,
      full_disks: this.#counts.fullDisks,
      disk: this.#disk?.kind ?? 'none',
      skewed_machines: this.#schedule.skews.filter((skew) => skew !== 0).length,
      findings: checked.findings.length,
      duration_s: Math.round(ms / 1000),
    };
  }

  closeDisk(options: { keep: boolean }): void {
    if (!this.#isDiskClosed) this.#disk?.close(options);
    this.#isDiskClosed = true;
  }

  abandon(): void {
    this.endAll();
    this.#remote.restore();
    this.closeDisk({ keep: true });
  }

  /** Ends whatever of this run still runs, at once. */
  endAll(): void {
    for (const { pid } of processesOf({ mark: this.#mark, root: this.#root })) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
  }
}

function lanesOf(steps: readonly { step: CallStep; nr: number }[]): { step: CallStep; nr: number }[][] {
  const lanes = new Map<string, { step: CallStep; nr: number }[]>();
  for (const one of steps) {
    const name = `${one.step.machine} ${one.step.lane}`;
    lanes.set(name, [...(lanes.get(name) ?? []), one]);
  }
  return [...lanes.values()];
}

async function must(machine: SoakMachine, line: Parameters<SoakMachine['commands']['run']>[0]): Promise<unknown> {
  const answer = await machine.commands.run(line);
  if (answer.outcome === 'accepted') return answer.value;
  throw new Error(`git-mesh ${line.join(' ')} on ${machine.handle}: ${answer.error ?? 'killed'}`);
}
