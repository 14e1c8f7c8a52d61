import type { AgentKey } from '../domain/ids.js';
import { isAgent, toIso } from '../domain/ids.js';
import { hasExpired } from '../domain/message-life.js';
import type { MessageEntry } from '../store/ports.js';
import { ackedHere } from './acknowledged.js';
import type { MeshContext } from './context.js';
import { judged } from './machine-clocks.js';
import type { LiveSession } from './sessions.js';
import { inTips } from './standing-messages.js';

/**
 * What stands in a session's inbox, oldest first: addressed to this machine or all, to this agent or all, arrived after
 * the check-in, not acknowledged by it, not expired, and still in its sender's tip (what was taken back or pruned is
 * gone for good, however its acknowledgement is kept).
 */
export async function inboxEntries(ctx: MeshContext, { key, session }: LiveSession): Promise<MessageEntry[]> {
  const { messages } = await ctx.store.journal.view();
  const acked = await ackedHere(ctx, key);
  const stands = inTips(ctx);
  const now = ctx.clock.now();
  const time = { now, nowIso: toIso(now) };
  const entries: MessageEntry[] = [];
  const since = messages.slice(firstAbove(messages, session.fence));
  const addressed = since.filter((entry) => isAddressed(entry, ctx.branches.own, key));
  for (const entry of await judged(ctx, addressed)) {
    if (hasExpired(entry, time)) continue;
    if (!(await acked(entry)) && (await stands(entry))) entries.push(entry);
  }
  return entries;
}

/** Addressed to this machine or to all of them, and there to this agent or to all. */
export function isAddressed(entry: MessageEntry, machine: string, key: AgentKey): boolean {
  if (entry.to !== '*' && entry.to !== machine) return false;
  return entry.to_agent === null || isAgent(entry.to_agent, key);
}

/** Numbers only grow along the journal. */
function firstAbove(messages: readonly MessageEntry[], fence: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((messages[middle]?.n ?? 0) > fence) high = middle;
    else low = middle + 1;
  }
  return low;
}
