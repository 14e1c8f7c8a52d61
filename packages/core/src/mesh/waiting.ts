import type { AgentKey } from '../domain/ids.js';
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
