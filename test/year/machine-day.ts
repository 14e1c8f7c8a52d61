import { addResident, openResident, type Resident } from '../bench/resident.js';

/** The two agents that each machine has. */
export const agents = ['build', 'review'] as const;

/** Which of the day's looks it is. */
export interface Look {
  day: number;
  round: number;
  isLast: boolean;
}

export interface PlannedSend {
  from: string;
  from_agent: string;
  /** A machine, or `*`. */
  to: string;
  /** Rather to the other's agent, where its machine has heard that this one is there. */
  isForAgent: boolean;
  msg_type: string;
  payload: Record<string, string | number>;
  ttl_seconds?: number;
}

/** What one machine of the year does, by the product's own calls. */
export class YearMachine {
  readonly #root: string;
  #resident: Resident;

  private constructor(root: string, resident: Resident) {
    this.#root = root;
    this.#resident = resident;
  }

  static async add(root: string, as: { remote: string; handle: string; isFirst: boolean }): Promise<YearMachine> {
    return new YearMachine(root, await addResident(root, as));
  }

  /** Exchanges, checks its agents in or out, and reads what is for them. */
  async look({ day, round, isLast }: Look): Promise<void> {
    const { mesh, connection, handle } = this.#resident;
    await mesh.syncNow();
    for (const agent_id of agents) {
      if (round === 0) {
        const fields = {
          role: 'dev',
          repo: 'shop',
          caps: ['ts'],
          status: `day ${day}: what ${handle} works on`,
          ttl_seconds: 28_800,
        };
        await mesh.api.checkin({ agent_id, ...fields, confirm: true }, { connection });
      } else if (round === 1) {
        await mesh.api.checkin({ agent_id, status: `day ${day}, later`, confirm: true }, { connection });
      }
      await this.#readAll(agent_id);
      if (isLast) await mesh.api.checkout({ agent_id, confirm: true }, { connection });
    }
    // What the day's last look wrote goes out; all else goes with the next one.
    if (isLast) await mesh.syncNow();
  }

  async send({ from_agent, to, isForAgent, msg_type, payload, ttl_seconds }: PlannedSend): Promise<void> {
    const { mesh, connection } = this.#resident;
    const toAgent = isForAgent && (await this.#knows(to, agents[0])) ? { to_agent: agents[0] } : {};
    const ttl = ttl_seconds === undefined ? {} : { ttl_seconds };
    await mesh.api.send({ to, ...toAgent, msg_type, from_agent, payload, ...ttl }, { connection });
  }

  async sync(): Promise<void> {
    await this.#resident.mesh.syncNow();
  }

  /** Nobody's server runs for a year. */
  async reopen(): Promise<void> {
    await this.close();
    Object.assign(this.#resident, await openResident(this.#root, this.#resident.store));
  }

  async close(): Promise<void> {
    await this.#resident.mesh.close();
  }

  /** Nine of ten are acknowledged, and none of those to all machines but by one agent. */
  async #readAll(agent_id: string): Promise<void> {
    const { mesh, connection } = this.#resident;
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

  async #knows(machine: string, agent: string): Promise<boolean> {
    const { mesh, connection } = this.#resident;
    const there = await mesh.api.agents({}, { connection });
    return there.agents.some((one) => one.machine === machine && one.agent_id === agent && one.alive);
  }
}
