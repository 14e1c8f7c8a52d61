import { inThePast } from '../bench/history.js';
import { addResident, openResident, quietRemote, type Resident } from '../bench/resident.js';
import { randomFrom } from '../random.js';

const dayMs = 86_400_000;

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

export interface Member extends Resident {
  agents: readonly string[];
}

export interface Year {
  remote: string;
  members: readonly Member[];
  close(): Promise<void>;
}

/**
 * Lives through `days` of a mesh by the product's own calls, with this process's clock set back and brought forward: each
 * machine's two agents check in each morning and tell what they do, send through the day, read and acknowledge most of
 * what is for them, hold merges now and then, and check out at night. `onDay` is called at the end of each day.
 */
export async function liveThrough(
  options: YearOptions,
  onDay: (day: number, year: Year) => Promise<void>,
): Promise<void> {
  const { root, machines, messagesADay, days, roundsADay } = options;
  const pick = new Pick(options.seed);
  const remote = quietRemote(root);
  const members: Member[] = [];
  const year: Year = {
    remote,
    members,
    close: async () => {
      for (const { mesh } of members) await mesh.close();
    },
  };
  const perRound = Math.round(messagesADay / roundsADay);
  await inThePast(days * (messagesADay + roundsADay), days * dayMs, async (next) => {
    for (let n = 0; n < machines; n++) {
      const handle = `m${String(n).padStart(2, '0')}`;
      members.push({ ...(await addResident(root, { remote, handle, isFirst: n === 0 })), agents: ['build', 'review'] });
    }
    for (let day = 1; day <= days; day++) {
      for (let round = 0; round < roundsADay; round++) {
        next();
        for (const member of members) await session(member, { day, round, last: round === roundsADay - 1 });
        for (let n = 0; n < perRound; n++) {
          next();
          await sendOne(pick, members, round < roundsADay - 1);
        }
      }
      await onDay(day, year);
      // Nobody's server runs for a year; and twenty together would fill this process with what each may keep in memory.
      for (const member of members) await reopen(root, member);
    }
  });
}

async function reopen(root: string, member: Member): Promise<void> {
  await member.mesh.close();
  Object.assign(member, await openResident(root, member.store));
}

async function session(member: Member, when: { day: number; round: number; last: boolean }): Promise<void> {
  const { mesh, connection, agents, handle } = member;
  await mesh.syncNow();
  for (const agent_id of agents) {
    if (when.round === 0) {
      const fields = {
        role: 'dev',
        repo: 'shop',
        caps: ['ts'],
        status: `day ${when.day}: what ${handle} works on`,
        ttl_seconds: 28_800,
      };
      await mesh.api.checkin({ agent_id, ...fields, confirm: true }, { connection });
    } else if (when.round === 1) {
      await mesh.api.checkin({ agent_id, status: `day ${when.day}, later`, confirm: true }, { connection });
    }
    await readAll(member, agent_id);
    if (when.last) await mesh.api.checkout({ agent_id, confirm: true }, { connection });
  }
  // What the day's last look wrote goes out; all else goes with the next one.
  if (when.last) await mesh.syncNow();
}

/** Nine of ten are acknowledged, and none of those to all machines but by one agent. */
async function readAll({ mesh, connection }: Member, agent_id: string): Promise<void> {
  for (let after: number | undefined; ;) {
    const { messages, remaining } = await mesh.api.inbox(
      { agent_id, limit: 100, ...(after === undefined ? {} : { after }) },
      { connection },
    );
    const ids = messages.filter(({ message_id: n }) => n % 10 !== 0).map(({ message_id: n }) => n);
    if (ids.length > 0) await mesh.api.ack({ agent_id, message_ids: ids, confirm: true }, { connection });
    after = messages.at(-1)?.message_id;
    if (remaining === 0 || after === undefined) return;
  }
}

const types = ['note', 'note', 'note', 'note', 'pr-ready', 'handoff', 'ping', 'release-out'] as const;

async function sendOne(pick: Pick, members: readonly Member[], isDay: boolean): Promise<void> {
  const from = pick.of(members);
  const to = pick.of(members);
  const from_agent = pick.of(from.agents);
  const payload = {
    repo: 'shop',
    branch: `feature/${pick.below(5000)}`,
    title: 'what is to be known of it, in some sixty characters',
    n: pick.below(1e6),
  };
  const isToAll = pick.below(20) === 0;
  if (isToAll && pick.below(25) === 0) {
    await from.mesh.api.send(
      { to: '*', msg_type: 'freeze', from_agent, payload: { repo: 'shop', reason: 'release' }, ttl_seconds: 7_200 },
      from,
    );
    return;
  }
  const isForOne = isDay && !isToAll && pick.below(2) === 0 && (await knowsThere(from, to));
  const toOne = isForOne ? { to_agent: 'build' } : {};
  const whom = isToAll ? { to: '*', ttl_seconds: 172_800 } : { to: to.handle, ...toOne };
  await from.mesh.api.send({ ...whom, msg_type: pick.of(types), from_agent, payload }, from);
}

/** Whether this machine has heard that the other's agent is there. */
async function knowsThere({ mesh, connection }: Member, to: Member): Promise<boolean> {
  const { agents } = await mesh.api.agents({}, { connection });
  return agents.some((one) => one.machine === to.handle && one.agent_id === 'build' && one.alive);
}
