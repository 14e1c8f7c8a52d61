import type { AgentKey, EpochMillis } from '../domain/ids.js';
import { believedExpiry } from '../domain/message-life.js';
import type { MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { isOwnBroadcast } from './inbox.js';
import { inboxEntries } from './inbox-entries.js';
import { liveSession } from './sessions.js';

/**
 * What stands in an agent's inbox with a number above `above`, oldest first, less what it broadcast itself. Nothing
 * where its session is not live. Renews nothing: the agent itself did not call.
 */
export async function waitingMessages(ctx: MeshContext, agent: AgentKey, above: number): Promise<MessageEntry[]> {
  const live = await liveSession(ctx, await ctx.branches.ownBranch(), agent);
  if (live === null) return [];
  const entries = await inboxEntries(ctx, live);
  return entries.filter((entry) => entry.n > above && !isOwnBroadcast(ctx, entry, agent));
}

/** What {@link inboxOutline} tells of a message. */
export interface OutlinedMessage {
  readonly n: number;
  readonly expiresAt: EpochMillis;
}

/** Which messages agent_inbox would show, oldest first; null where the agent is not checked in. Renews nothing. */
export async function inboxOutline(ctx: MeshContext, agent: AgentKey): Promise<OutlinedMessage[] | null> {
  const live = await liveSession(ctx, await ctx.branches.ownBranch(), agent);
  if (live === null) return null;
  const now = ctx.clock.now();
  return (await inboxEntries(ctx, live)).map((entry) => ({ n: entry.n, expiresAt: believedExpiry(entry, now) }));
}
