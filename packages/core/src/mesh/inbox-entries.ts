import type { AgentKey, Handle } from '../domain/ids.js';
import { isAgent } from '../domain/ids.js';
import { hasExpired, lookTime } from '../domain/message-life.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { ackFilesHere, agentsThatAcked } from './acknowledged.js';
import type { MeshContext } from './context.js';
import { standingFrom } from './in-tip.js';
import { judged } from './machine-clocks.js';
import type { LiveSession } from './sessions.js';
import { inTips } from './standing-messages.js';

/** What stands in a session's inbox: see {@link unreadBetween}. */
export async function inboxEntries(ctx: MeshContext, { key, session }: LiveSession): Promise<MessageEntry[]> {
  return unreadBetween(ctx, key, { journal: await ctx.store.journal.view(), above: session.fence });
}

/**
 * What an agent has not read of what arrived in a span of the journal's numbers, oldest first: addressed to this machine or
 * all, to this agent or all, not acknowledged by it, not expired, and still in its sender's tip (what was taken back or
 * pruned is gone for good, however its acknowledgement is kept).
 */
export async function unreadBetween(
  ctx: MeshContext,
  key: AgentKey,
  { journal: { messages }, above, upTo = Infinity }: { journal: JournalView; above: number; upTo?: number },
): Promise<MessageEntry[]> {
  const time = lookTime(ctx.clock.now());
  const span = messages.slice(firstAbove(messages, above), firstAbove(messages, upTo));
  const addressed = span.filter((entry) => isAddressed(entry, ctx.branches.own, key));
  const live = (await judged(ctx, addressed)).filter((entry) => !hasExpired(entry, time));
  const unread = await unreadOf(ctx, live, key);
  return live.filter((entry) => unread.has(entry));
}

/** Those not acknowledged that stand in their sender's tip: sender by sender, so that thousands cost no promise each. */
async function unreadOf(ctx: MeshContext, live: readonly MessageEntry[], key: AgentKey): Promise<Set<MessageEntry>> {
  const acksOf = await ackFilesHere(ctx);
  const stands = inTips(ctx);
  const unread = new Set<MessageEntry>();
  const groups = bySender(live);
  for (const [sender, branch] of await ctx.branches.those(groups.keys())) {
    const entries = groups.get(sender) ?? [];
    const [acks, standing] = [await acksOf(sender), await standingFrom(ctx, branch)];
    for (const entry of entries) {
      const ack = acks.get(entry.id);
      if (ack !== undefined && (await agentsThatAcked(ctx, ack)).has(key)) continue;
      // A tip with something unreadable in it still has what lies beside that.
      if (standing === null ? await stands(entry) : standing.has(entry.id)) unread.add(entry);
    }
  }
  return unread;
}

function bySender(entries: readonly MessageEntry[]): Map<Handle, MessageEntry[]> {
  const groups = new Map<Handle, MessageEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.sender);
    if (group === undefined) groups.set(entry.sender, [entry]);
    else group.push(entry);
  }
  return groups;
}

/** Addressed to this machine or to all of them, and there to this agent or to all. */
export function isAddressed(entry: MessageEntry, machine: string, key: AgentKey): boolean {
  if (entry.to !== '*' && entry.to !== machine) return false;
  return entry.to_agent === null || isAgent(entry.to_agent, key);
}

/** Numbers only grow along the journal. */
function firstAbove(messages: readonly MessageEntry[], number: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((messages[middle]?.n ?? 0) > number) high = middle;
    else low = middle + 1;
  }
  return low;
}
