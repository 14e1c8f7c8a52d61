import { agentKey } from '../domain/ids.js';
import type { AgentId } from '../domain/ids.js';
import { readArguments } from '../domain/inputs/arguments.js';
import type { MentionResult } from '../domain/results.js';
import type { Mentioned } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { isOwnBroadcast } from './inbox.js';
import { inboxEntries } from './inbox-entries.js';
import { liveSessions } from './sessions.js';

/** Readers that are remembered; the one that was not heard of for longest is forgotten first. */
const maxReaders = 100;

/**
 * What waits unread for the agents that are checked in on this machine and was not mentioned to this reader before, for
 * whoever tells a model at a turn's end that there is mail. It is noted as mentioned. Renews no presence: that somebody
 * looks does not prove that every agent here lives.
 *
 * `input`: `reader`, any text that names who is told (a client's session), and `agent_id` for one agent alone.
 * @throws MeshError `invalid_argument`, `unknown_argument`
 */
export async function mention(ctx: MeshContext, input: unknown): Promise<MentionResult> {
  const given = readArguments('mention', ['reader', 'agent_id'], input);
  const reader = given.required('reader', given.text('reader', { max: 500, filled: true }));
  const waiting = await waitingFor(ctx, given.agent('agent_id') ?? null);
  const { local } = ctx.store;
  if (
    newSince(
      waiting,
      (await local.mentioned()).find(({ id }) => id === reader),
    ).length === 0
  )
    return { agents: [] };
  // Two hooks of one session may ask at once: only one of them is to tell.
  return ctx.store.withLock(async () => {
    const all = await local.mentioned();
    const found = newSince(
      waiting,
      all.find(({ id }) => id === reader),
    );
    const agents = Object.fromEntries(waiting.map(({ agent, numbers }) => [agentKey(agent), numbers.at(-1) ?? 0]));
    await local.putMentioned([...all.filter(({ id }) => id !== reader), { id: reader, agents }].slice(-maxReaders));
    return { agents: found };
  });
}

interface Waiting {
  agent: AgentId;
  /** Message numbers, which only grow. */
  numbers: number[];
}

function newSince(waiting: readonly Waiting[], before: Mentioned | undefined): MentionResult['agents'] {
  return waiting
    .map(({ agent, numbers }) => {
      const last = before?.agents[agentKey(agent)] ?? 0;
      return { agent_id: agent, fresh: numbers.filter((n) => n > last).length, unread: numbers.length };
    })
    .filter(({ fresh }) => fresh > 0);
}

async function waitingFor(ctx: MeshContext, only: AgentId | null): Promise<Waiting[]> {
  const branch = await ctx.branches.ownBranch();
  const waiting: Waiting[] = [];
  for (const live of await liveSessions(ctx, branch)) {
    if (only !== null && agentKey(only) !== live.key) continue;
    const entries = (await inboxEntries(ctx, live)).filter((entry) => !isOwnBroadcast(ctx, entry, live.key));
    waiting.push({ agent: live.session.agent, numbers: entries.map(({ n }) => n) });
  }
  return waiting;
}
