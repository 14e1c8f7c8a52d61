import { join } from 'node:path';
import { quietRemote } from '../bench/resident.js';
import { randomFrom } from '../random.js';
import { stockGit } from '../stock-git.js';
import { agents, type Look, type PlannedSend } from './machine-day.js';
import { MachineProcess } from './machine-processes.js';

const dayMs = 86_400_000;
/** Each has some of the machines: none grows large, and they use more than one processor. */
const processCount = 4;

class Pick {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }
}

export interface YearOptions {
  root: string;
  machines: number;
  messagesADay: number;
  days: number;
  /** How often a day each machine exchanges with the remote. */
  roundsADay: number;
  seed: number;
}

export interface Member {
  handle: string;
  store: string;
  /** One round, in milliseconds. */
  sync(): Promise<number>;
  send(to: string): Promise<void>;
}

export interface Year {
  remote: string;
  members: readonly Member[];
  /** By how much the machines' clocks are behind the real one. */
  behindMs: () => number;
  close(): Promise<void>;
}

/**
 * Lives through `days` of a mesh by the product's own calls, with the clocks of its processes set back and brought forward:
 * each machine's two agents check in each morning and tell what they do, send through the day, read and acknowledge most of
 * what is for them, hold merges now and then, and check out at night. `onDay` is called at the end of each day.
 */
export async function liveThrough(
  options: YearOptions,
  onDay: (day: number, year: Year) => Promise<void>,
): Promise<void> {
  const { root, machines, messagesADay, days, roundsADay } = options;
  const pick = new Pick(options.seed);
  const remote = quietRemote(root);
  const processes = Array.from({ length: Math.min(processCount, machines) }, () => new MachineProcess());
  const handles = Array.from({ length: machines }, (_, n) => `m${String(n).padStart(2, '0')}`);
  const processOf = new Map<string, MachineProcess>();

  const perRound = Math.round(messagesADay / roundsADay);
  const steps = days * roundsADay * (perRound + 1);
  let step = 0;
  const behindMs = (): number => Math.round(days * dayMs * (1 - step / steps));
  const all = async (task: { do: 'reopen' | 'close' } | { do: 'look'; look: Look }) => {
    await Promise.all(processes.map((one) => one.ask({ ...task, behindMs: behindMs() })));
  };
  const sendAll = async (sends: readonly (PlannedSend & { behindMs: number })[]): Promise<void> => {
    await Promise.all(
      processes.map((one) =>
        one.ask({ do: 'send', sends: sends.filter(({ from }) => processOf.get(from) === one), behindMs: behindMs() }),
      ),
    );
  };
  const members = handles.map((handle, n): Member => {
    const machine = processes[n % processes.length];
    if (machine === undefined) throw new Error('a year has at least one machine');
    processOf.set(handle, machine);
    return {
      handle,
      store: join(root, handle),
      sync: () => machine.ask({ do: 'sync', handle, behindMs: behindMs() }),
      send: (to) => sendAll([{ ...note, from: handle, to, behindMs: behindMs() }]),
    };
  });
  const year: Year = { remote, members, behindMs, close: () => all({ do: 'close' }) };
  try {
    for (const [n, { handle }] of members.entries())
      await processOf.get(handle)?.ask({ do: 'add', root, remote, handle, isFirst: n === 0, behindMs: behindMs() });
    for (let day = 1; day <= days; day++) {
      for (let round = 0; round < roundsADay; round++) {
        step += 1;
        const isLast = round === roundsADay - 1;
        await all({ do: 'look', look: { day, round, isLast } });
        const sends = Array.from({ length: perRound }, () => {
          step += 1;
          return { ...plannedSend(pick, handles, !isLast), behindMs: behindMs() };
        });
        await sendAll(sends);
      }
      await onDay(day, year);
      // What git hosts and `git maintenance` do with a repository that many push to; nothing else tidies this one.
      stockGit(['repack', '--geometric=2', '-d', '-q'], { cwd: remote });
      await all({ do: 'reopen' });
    }
  } finally {
    for (const one of processes) one.end();
  }
}

const note = { from_agent: agents[0], isForAgent: false, msg_type: 'note', payload: { n: 1 } };
const types = ['note', 'note', 'note', 'note', 'pr-ready', 'handoff', 'ping', 'release-out'] as const;

function plannedSend(pick: Pick, handles: readonly string[], isDay: boolean): PlannedSend {
  const [from, to] = [pick.of(handles), pick.of(handles)];
  const from_agent = pick.of(agents);
  const payload = {
    repo: 'shop',
    branch: `feature/${pick.below(5000)}`,
    title: 'what is to be known of it, in some sixty characters',
    n: pick.below(1e6),
  };
  const isToAll = pick.below(20) === 0;
  if (isToAll && pick.below(25) === 0) {
    const freeze = { msg_type: 'freeze', payload: { repo: 'shop', reason: 'release' }, ttl_seconds: 7_200 };
    return { from, from_agent, to: '*', isForAgent: false, ...freeze };
  }
  const msg_type = pick.of(types);
  if (isToAll) return { from, from_agent, to: '*', isForAgent: false, msg_type, payload, ttl_seconds: 172_800 };
  return { from, from_agent, to, isForAgent: isDay && pick.below(2) === 0, msg_type, payload };
}
