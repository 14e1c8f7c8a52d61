import { agentKey, toIso } from '../domain/ids.js';
import type { AgentId, AgentKey, EpochMillis } from '../domain/ids.js';
import { effectiveExpiry, isAhead } from '../domain/presence.js';
import type { PresenceRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { JournalView, SessionState } from '../store/ports.js';
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

/**
 * The agent's last call here; null where none is known. One that was noted by a clock which was set back since is not
 * believed: it would keep the agent alive until that time comes.
 */
export async function lastActivityOf(ctx: MeshContext, key: AgentKey): Promise<EpochMillis | null> {
  const at = await ctx.store.local.lastActivity(key);
  return at === null || isAhead(at, ctx.clock.now()) ? null : at;
}

/** Null when the agent never checked in here, checked out, or was silent for longer than its ttl. */
export async function liveSession(ctx: MeshContext, branch: Branch, key: AgentKey): Promise<LiveSession | null> {
  const [session, record, lastActivity] = await Promise.all([
    ctx.store.local.session(key),
    ctx.branches.presenceOf(branch, key),
    lastActivityOf(ctx, key),
  ]);
  // A session whose commit never came to be, or a record from before the store was restored, is no session.
  if (session === null || session.ended !== undefined || record?.checked_in_at !== session.checked_in_at) return null;
  if (ctx.clock.now() >= effectiveExpiry(record, lastActivity)) return null;
  return { key, session, record, lastActivity };
}

/** Of every agent that is checked in on this machine. */
export async function liveSessions(ctx: MeshContext, branch: Branch): Promise<LiveSession[]> {
  const found: LiveSession[] = [];
  for (const { agent } of await ctx.store.local.sessions()) {
    const live = await liveSession(ctx, branch, agentKey(agent));
    if (live !== null) found.push(live);
  }
  return found;
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

/** The highest message number that this machine gave out before a time, or `none`. */
export function numberBefore(journal: JournalView, at: EpochMillis, none: number): number {
  const then = toIso(at);
  return journal.messages.findLast((entry) => entry.at < then)?.n ?? none;
}
