import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bareRemote } from '../stock-git.js';
import { inThePast } from './history.js';
import { median } from './measure.js';
import { addResident, type Resident } from './resident.js';

/** What this process holds, in MiB, once garbage was collected. */
export interface DaySample {
  /** Days simulated by then, and messages sent. */
  days: number;
  messages: number;
  /** JavaScript's heap, and buffers outside of it. */
  live: number;
  rss: number;
}

const tickMs = 30_000;
const ticksADay = 86_400_000 / tickMs;
const ticksARound = 10;
const samplesADay = 8;
const agent_id = 'bench';
/** What live memory may grow by in a day once everything has its size. */
const aimMibADay = 1;

function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  // What V8 gives under that name once it is told to.
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
}

function sample(days: number, messages: number): DaySample {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { days, messages, live: (heapUsed + external) / 2 ** 20, rss: rss / 2 ** 20 };
}

/**
 * Two machines stay open in this process for so many days of its clock: every 30 s each agent looks into its inbox, by which
 * its presence is renewed, and one of them sends a message; every 5 minutes both acknowledge what came and synchronise, by
 * which all is fetched and what is due is pruned.
 */
export async function measureDay(root: string, days: number, onProgress: (line: string) => void): Promise<DaySample[]> {
  const remote = bareRemote(root);
  const residents: Resident[] = [];
  const samples: DaySample[] = [];
  const ticks = days * ticksADay;
  await inThePast(ticks, ticks * tickMs, async (next) => {
    for (const handle of ['studio', 'laptop']) {
      const resident = await addResident(root, { remote, handle, isFirst: residents.length === 0 });
      await resident.mesh.api.checkin({ agent_id, ttl_seconds: 900, confirm: true }, resident);
      residents.push(resident);
    }
    await exchange(residents);
    for (let tick = 0; tick < ticks; tick++) {
      next();
      const from = residents[tick % 2];
      const to = residents[(tick + 1) % 2];
      if (from === undefined || to === undefined) throw new Error('two machines were opened');
      const message = {
        to: to.handle,
        to_agent: agent_id,
        from_agent: agent_id,
        msg_type: 'note',
        payload: { n: tick },
      };
      await from.mesh.api.send(message, from);
      for (const each of residents) await each.mesh.api.inbox({ agent_id, limit: 5 }, each);
      if (tick % ticksARound === 0) await exchange(residents);
      if (tick % (ticksADay / samplesADay) !== 0) continue;
      samples.push(sample(tick / ticksADay, tick));
      onProgress(`  ${(tick / ticksADay).toFixed(2)} of ${days} days`);
    }
  });
  for (const { mesh } of residents) await mesh.close();
  return samples;
}

async function exchange(residents: readonly Resident[]): Promise<void> {
  for (const each of residents) {
    const { mesh } = each;
    await mesh.syncNow();
    const { messages } = await mesh.api.inbox({ agent_id, limit: 100 }, each);
    const message_ids = messages.map((message) => message.message_id);
    if (message_ids.length > 0) await mesh.api.ack({ agent_id, message_ids, confirm: true }, each);
  }
}

/** MiB a day by which the live memory of the last half goes on growing: a line through the medians of its two halves. */
function slopeOf(samples: readonly DaySample[]): number {
  const last = samples.slice(Math.ceil(samples.length / 2));
  const half = Math.floor(last.length / 2);
  const [early, late] = [last.slice(0, half), last.slice(-half)];
  const at = (part: readonly DaySample[], of: (one: DaySample) => number): number => median(part.map(of));
  return (
    (at(late, ({ live }) => live) - at(early, ({ live }) => live)) /
    (at(late, ({ days }) => days) - at(early, ({ days }) => days))
  );
}

/** The samples as a Markdown table, with the slope below it. */
export function dayTable(samples: readonly DaySample[]): string {
  const rows = samples.map(({ days, messages, live, rss }) => [
    days.toFixed(2),
    String(messages),
    `${live.toFixed(1)} MiB`,
    `${Math.round(rss)} MiB`,
  ]);
  const table = [['days', 'messages', 'live memory', 'RSS'], Array<string>(4).fill('---:'), ...rows];
  const slope = slopeOf(samples);
  const verdict = slope <= aimMibADay ? 'met' : 'missed';
  return [
    ...table.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    `The last half grows by ${slope.toFixed(2)} MiB a day (aim: ≤ ${aimMibADay}: ${verdict}).`,
  ].join('\n');
}
