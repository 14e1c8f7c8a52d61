import type { CallOptions } from '../api.js';
import { agentKey } from '../domain/ids.js';
import type { AgentId, AgentKey, EpochMillis } from '../domain/ids.js';
import { effectiveExpiry } from '../domain/presence.js';
import type { PresenceRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { SessionState } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

/** An agent that is checked in on this machine: its local session and its record on the own branch belong together. */
export interface LiveSession {
  readonly key: AgentKey;
  readonly session: SessionState;
  readonly record: PresenceRecord;
  /** This machine's knowledge, null where there was no call since the check-in. */
  readonly lastActivity: EpochMillis | null;
}

/** Null when the agent never checked in here, checked out, or was silent for longer than its ttl. */
export async function liveSession(ctx: MeshContext, branch: Branch, key: AgentKey): Promise<LiveSession | null> {
  const [session, record, lastActivity] = await Promise.all([
    ctx.store.local.session(key),
    ctx.branches.presenceOf(branch, key),
    ctx.store.local.lastActivity(key),
  ]);
  // A session whose commit never came to be, or a record from before the store was restored, is no session.
  if (session === null || session.ended !== undefined || record?.checked_in_at !== session.checked_in_at) return null;
  if (ctx.clock.now() >= effectiveExpiry(record, lastActivity)) return null;
  return { key, session, record, lastActivity };
}

/** @throws MeshError `not_checked_in` (409). */
export async function requireSession(ctx: MeshContext, branch: Branch, agent: AgentId): Promise<LiveSession> {
  const live = await liveSession(ctx, branch, agentKey(agent));
  if (live !== null) return live;
  throw new MeshError(
    'not_checked_in',
    `Agent ${agent} is not checked in on ${branch.handle}, or its entry has expired: call agent_checkin with confirm: true first. ` +
      'A new session sees what arrives from then on; agent_checkin names what was missed.',
    { data: { agent_id: agent, machine: branch.handle } },
  );
}

/**
 * A mesh call is activity of the agent it names and of those that checked in over its connection. It is noted locally
 * only, and revives nobody whose session is over.
 */
export async function noteActivity(ctx: MeshContext, call: CallOptions, named: AgentId | null): Promise<void> {
  const keys = new Set<string>(call.connection.agents);
  if (named !== null) keys.add(agentKey(named));
  if (keys.size === 0) return;
  const branch = await ctx.branches.ownBranch();
  for (const key of keys) {
    const live = await liveSession(ctx, branch, key as AgentKey);
    if (live !== null) await ctx.store.local.touch(live.key, ctx.clock.now());
  }
}
