import { randomFrom } from '../random.js';

export const faultKinds = ['kill', 'pause', 'outage', 'slow', 'refuse', 'full', 'skew'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** How busy the machines are. */
export interface Pace {
  /** Milliseconds between the calls of a server, and between commands, on average. */
  serverMs: number;
  commandMs: number;
  /** Between two faults in the whole mesh. */
  faultMs: number;
}

export interface ScheduleOptions {
  seed: number;
  seconds: number;
  machines: number;
  faults: readonly FaultKind[];
  pace: Pace;
}

export type Lane = 'server-0' | 'server-1' | 'command';
/** What runs on a machine besides commands. */
export type Resident = 'server-0' | 'server-1' | 'watch';

/** What becomes of a command in the middle of its call: at this part of the time that such a command takes. */
export interface Mischief {
  how: 'kill' | 'pause';
  part: number;
  /** Of the pause. */
  ms: number;
}

export type Call =
  | { do: 'send'; to: string; toAgent: string | null; from: string | null; type: string; key: boolean; words: number }
  /** Acknowledges a part of what the agent's inbox shows. */
  | { do: 'ack'; part: number }
  | { do: 'read'; agent: string }
  | { do: 'sent' }
  | { do: 'checkin'; agent: string; status: string }
  | { do: 'checkout'; agent: string }
  | { do: 'agents' }
  | { do: 'sync' };

export interface CallStep {
  /** Milliseconds after the beginning; later where the lane is not free by then. */
  at: number;
  machine: number;
  lane: Lane;
  call: Call;
  mischief: Mischief | null;
}

export type FaultStep = { at: number } &
  /** `inCall`: so many milliseconds after the next call of a server began. Started again after `downMs`. */
  (
    | { fault: 'kill'; machine: number; victim: Resident; inCall: number | null; downMs: number }
    | { fault: 'pause'; machine: number; victim: Resident; inCall: number | null; ms: number }
    | { fault: 'outage'; ms: number }
    | { fault: 'slow'; ms: number; delayMs: number }
    | { fault: 'refuse'; ms: number; percent: number }
    | { fault: 'full'; ms: number }
  );

export interface Schedule {
  handles: string[];
  /** How far each machine's clock is off, in milliseconds. */
  skews: number[];
  /** Servers of each machine: one or two. */
  servers: number[];
  /** The machine whose disk fills up; null where none does. */
  smallDisk: number | null;
  calls: CallStep[];
  faults: FaultStep[];
}

/** Agents that stay from beginning to end. The first two acknowledge nothing: their inboxes hold all that came. */
export const sinks = ['sink', 'desk'] as const;
export const reader = 'reader';
/** These come and go. */
const visitors = ['visitor-1', 'visitor-2'];
const types = ['ping', 'pr-ready', 'release-out', 'handoff', 'note'];

/** Longer than any lock lives without being renewed. */
const pauseMs = { least: 4_000, most: 8_000 };
/** As long as commands wait for a store that is held, and longer. */
const longPauseMs = 17_000;
const maxSkewMs = 600_000;
/** The remote's faults do not follow one another at once, or nothing would ever be exchanged. */
const calmMs = 2_500;

class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }

  /** A whole number from `least` up to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  chance(part: number): boolean {
    return this.#next() < part;
  }

  part(): number {
    return this.#next();
  }

  of<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    const one = list[Math.floor(this.#next() * list.length)];
    if (one === undefined) throw new Error('nothing to choose from');
    return one;
  }

  /** So that the mean is `mean`. */
  gap(mean: number): number {
    return Math.round(-Math.log(1 - this.#next()) * mean);
  }
}

/** All that a soak will try, from its seed. What becomes of it depends on the machine that it runs on. */
export function makeSchedule(options: ScheduleOptions): Schedule {
  const dice = new Dice(options.seed);
  const { machines } = options;
  const handles = Array.from({ length: machines }, (_, index) => `m${index + 1}`);
  const servers = handles.map(() => dice.between(1, 2));
  const skewed = options.faults.includes('skew');
  const skews = handles.map((_, index) => (skewed ? skewOf(dice, index) : 0));
  const smallDisk = options.faults.includes('full') ? dice.between(0, machines - 1) : null;
  const calls = handles.flatMap((_, machine) => callsOf(dice, options, { machine, handles, servers }));
  calls.sort((one, other) => one.at - other.at);
  return { handles, skews, servers, smallDisk, calls, faults: faultsOf(dice, options, servers) };
}

/** One machine's clock is right, one is as fast as can be, one as slow, and the others anywhere between. */
function skewOf(dice: Dice, index: number): number {
  const extremes = [0, maxSkewMs, -maxSkewMs];
  return extremes[index] ?? (dice.chance(0.3) ? 0 : dice.between(-maxSkewMs, maxSkewMs));
}

function callsOf(
  dice: Dice,
  { seconds, pace, faults }: ScheduleOptions,
  where: { machine: number; handles: string[]; servers: number[] },
): CallStep[] {
  const { machine, servers } = where;
  const lanes: Lane[] = servers[machine] === 2 ? ['server-0', 'server-1', 'command'] : ['server-0', 'command'];
  const steps: CallStep[] = [];
  for (const lane of lanes) {
    const mean = lane === 'command' ? pace.commandMs : pace.serverMs;
    for (let at = dice.gap(mean); at < seconds * 1000; at += dice.gap(mean)) {
      const call = lane === 'command' && dice.chance(0.15) ? { do: 'sync' as const } : callOf(dice, where.handles);
      const mischief = lane === 'command' ? mischiefOf(dice, faults) : null;
      steps.push({ at, machine, lane, call, mischief });
    }
  }
  return steps;
}

function mischiefOf(dice: Dice, faults: readonly FaultKind[]): Mischief | null {
  const how = dice.chance(0.75) ? 'kill' : 'pause';
  const [happens, part, ms] = [dice.chance(0.3), dice.part(), dice.between(pauseMs.least, pauseMs.most)];
  return happens && faults.includes(how) ? { how, part, ms } : null;
}

function callOf(dice: Dice, handles: readonly string[]): Call {
  const kind = dice.part();
  if (kind < 0.62) return sendOf(dice, handles);
  if (kind < 0.77) return { do: 'ack', part: dice.part() };
  if (kind < 0.83) return { do: 'read', agent: dice.of([...sinks, reader]) };
  if (kind < 0.88) return { do: 'sent' };
  if (kind < 0.95) return { do: 'checkin', agent: dice.of(visitors), status: `at ${dice.between(1, 999)}` };
  if (kind < 0.98) return { do: 'checkout', agent: dice.of(visitors) };
  return { do: 'agents' };
}

function sendOf(dice: Dice, handles: readonly string[]): Call {
  const to = dice.chance(0.2) ? '*' : dice.of(handles);
  const toAgent = to !== '*' && dice.chance(0.45) ? dice.of([...sinks, reader]) : null;
  const from = dice.chance(0.3) ? null : dice.of([...sinks, reader, ...visitors]);
  // A key is its sender's: another one that sends with it sends another message.
  const key = from !== null && dice.chance(0.4);
  // Long enough, now and then, to fill an inbox's page with a few of them.
  const words = dice.chance(0.05) ? dice.between(200, 600) : dice.between(0, 20);
  return { do: 'send', to, toAgent, from, type: dice.of(types), key, words };
}

function faultsOf(dice: Dice, options: ScheduleOptions, servers: readonly number[]): FaultStep[] {
  const { faults, pace, seconds } = options;
  const possible = faults.filter((kind) => kind !== 'skew');
  if (possible.length === 0) return [];
  const steps: FaultStep[] = [];
  let calmFrom = 0;
  let diskFrom = 0;
  for (let at = dice.gap(pace.faultMs); at < seconds * 1000; at += dice.gap(pace.faultMs)) {
    const step = faultOf(dice, weighted(dice, possible), options, servers);
    if (step.fault === 'full') {
      if (at < diskFrom) continue;
      diskFrom = at + step.ms + calmMs;
    }
    if (step.fault === 'outage' || step.fault === 'slow' || step.fault === 'refuse') {
      if (at < calmFrom) continue;
      calmFrom = at + step.ms + calmMs;
    }
    steps.push({ at, ...step });
  }
  return steps;
}

/** Processes die more often than disks fill up. */
function weighted(dice: Dice, possible: readonly FaultKind[]): FaultKind {
  const weights: Record<FaultKind, number> = { kill: 10, pause: 4, outage: 3, slow: 3, refuse: 3, full: 3, skew: 0 };
  return dice.of(possible.flatMap((kind) => Array.from({ length: weights[kind] }, () => kind)));
}

type Fault = FaultStep extends infer Step ? (Step extends { at: number } ? Omit<Step, 'at'> : never) : never;

function faultOf(dice: Dice, kind: FaultKind, options: ScheduleOptions, servers: readonly number[]): Fault {
  const machine = dice.between(0, options.machines - 1);
  const residents: Resident[] = servers[machine] === 2 ? ['server-0', 'server-1', 'watch'] : ['server-0', 'watch'];
  const victim = dice.of(residents);
  const inCall = victim !== 'watch' && dice.chance(0.7) ? dice.between(0, 80) : null;
  const long = dice.chance(0.1) && options.seconds > 60;
  switch (kind) {
    case 'kill':
      return { fault: 'kill', machine, victim, inCall, downMs: dice.between(0, 3_000) };
    case 'pause':
      return {
        fault: 'pause',
        machine,
        victim,
        inCall,
        ms: long ? longPauseMs : dice.between(pauseMs.least, pauseMs.most),
      };
    case 'outage':
      return { fault: 'outage', ms: dice.between(1_000, 6_000) };
    case 'slow':
      // Up to more than a command gives its exchange (5 s).
      return { fault: 'slow', ms: dice.between(2_000, 8_000), delayMs: dice.between(300, 7_000) };
    case 'refuse':
      return { fault: 'refuse', ms: dice.between(2_000, 8_000), percent: dice.between(30, 100) };
    case 'full':
    case 'skew':
      return { fault: 'full', ms: dice.between(2_000, 6_000) };
  }
}
