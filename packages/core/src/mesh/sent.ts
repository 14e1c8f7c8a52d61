import type { CallOptions } from '../api.js';
import { agentKey, isAgent, toIso } from '../domain/ids.js';
import type { AgentKey } from '../domain/ids.js';
import { parseSentInput } from '../domain/inputs.js';
import { believedExpiry, believedSentAt } from '../domain/message-life.js';
import { messageState } from '../domain/message-state.js';
import type { SentMessage, SentResult } from '../domain/results.js';
import { noteActivityAlone } from './activity.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { readMessage } from './inbox.js';
import { withdrawnHere } from './withdrawn.js';

/** What this machine sent, newest first, each with how far it has come. */
export async function sent(ctx: MeshContext, input: unknown, call: CallOptions): Promise<SentResult> {
  const wanted = parseSentInput(input);
  await noteActivityAlone(ctx, call, wanted.agent_id ?? null);
  const agent = wanted.agent_id === undefined ? null : agentKey(wanted.agent_id);
  const journal = await reachingBack(ctx, { agent, limit: wanted.limit });
  const now = ctx.clock.now();
  const withdrawn = await withdrawnHere(ctx, await ctx.branches.ownBranch(), journal);
  const messages: SentMessage[] = [];
  for (const entry of newestSent(ctx, journal, { agent, limit: wanted.limit })) {
    const progress = messageState({ entry, journal, machine: ctx.branches.own, now });
    messages.push({
      message_id: entry.n,
      id: entry.id,
      to: entry.to,
      to_agent: entry.to_agent,
      msg_type: entry.type,
      from_agent: entry.agent,
      payload: (await readMessage(ctx, entry))?.payload ?? {},
      sent_at: toIso(believedSentAt(entry, now)),
      expires_at: toIso(believedExpiry(entry, now)),
      in_reply_to: entry.in_reply_to,
      ...progress,
      // Its life ended early, and by whose hand.
      ...(progress.state !== 'expired' && withdrawn(entry) ? { state: 'expired', unsent: true } : {}),
    });
  }
  return { messages, sync: await ctx.syncer.summary() };
}

interface Asked {
  agent: AgentKey | null;
  limit: number;
}

function newestSent(ctx: MeshContext, { messages }: JournalView, { agent, limit }: Asked): MessageEntry[] {
  const found: MessageEntry[] = [];
  for (let i = messages.length - 1; i >= 0 && found.length < limit; i--) {
    const entry = messages[i];
    if (entry?.sender !== ctx.branches.own) continue;
    if (agent === null || isAgent(entry.agent, agent)) found.push(entry);
  }
  return found;
}

/** The journal, whole where more is asked for than is kept of what was sent. */
async function reachingBack(ctx: MeshContext, asked: Asked): Promise<JournalView> {
  const journal = await ctx.store.journal.view();
  const left = journal.lastLeftOut(ctx.branches.own, asked.agent);
  if (left === undefined) return journal;
  // One's own ULIDs rise: what is left out is older than all of these, or stands among them.
  const oldest = newestSent(ctx, journal, asked)[asked.limit - 1];
  return oldest !== undefined && oldest.id > left ? journal : ctx.store.journal.whole();
}
