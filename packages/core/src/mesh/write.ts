import { agentKey, toIso } from '../domain/ids.js';
import type { AgentId, AgentKey, IsoTime } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { encodePresence } from '../domain/presence-record.js';
import { renewedRecord, renewalDue, rideAlong } from '../domain/presence.js';
import type { CommitEvent, PresenceRecord } from '../domain/records.js';
import type { JournalView } from '../store/ports.js';
import { commitOnBranch } from '../store/commit.js';
import { journalOwnBranch } from './arrivals.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

/** How long a command waits for another process that holds the store, before 423. */
export const lockTimeoutMs = 15_000;

/** The state of the store as one holder of its lock sees it. */
export interface Locked {
  branch: Branch;
  journal: JournalView;
}

export interface Change {
  edits: ReadonlyMap<string, Uint8Array | null>;
  event: Omit<CommitEvent, 'seq' | 'journal'> & { journal?: number };
}

/**
 * Runs `decide` under the store lock, on a journal that has everything of the own branch, so that what a crash left
 * between a commit and its journal entry is mended before anything is decided.
 */
export async function locked<T>(ctx: MeshContext, decide: (state: Locked) => Promise<T>): Promise<T> {
  return ctx.store.withLock(
    async () => {
      const branch = await ctx.branches.ownBranch();
      const journal = await journalOwnBranch(ctx.store, branch, ctx.clock.now());
      return decide({ branch, journal });
    },
    { timeoutMs: lockTimeoutMs },
  );
}

/** Commits a change on the own branch and journals it. Caller holds the lock (see {@link locked}). */
export async function commitChange(ctx: MeshContext, state: Locked, change: Change): Promise<Locked> {
  const now = ctx.clock.now();
  const edits = new Map(change.edits);
  for (const [path, bytes] of await ridingRenewals(ctx, state, change)) {
    if (!edits.has(path)) edits.set(path, bytes);
  }
  await commitOnBranch(ctx.store, {
    edits,
    event: { ...change.event, journal: change.event.journal ?? state.journal.highest },
    author: change.event.agent,
    at: now,
  });
  const branch = await ctx.branches.ownBranch();
  return { branch, journal: await journalOwnBranch(ctx.store, branch, now) };
}

/** Renewals that are due, or that the acting agent's commit may as well carry: no commit is made for them alone. */
async function ridingRenewals(ctx: MeshContext, state: Locked, change: Change): Promise<Map<string, Uint8Array>> {
  const acting = change.event.agent === null ? null : agentKey(change.event.agent);
  const edits = new Map<string, Uint8Array>();
  for (const { key, record, lastActivity } of await activePresence(ctx, state.branch)) {
    const facts = { record, lastActivity, now: ctx.clock.now() };
    if (renewalDue(facts) || (key === acting && rideAlong(facts))) {
      edits.set(presencePath(key), encodePresence(renewedRecord(record, lastActivity)));
    }
  }
  return edits;
}

/** The own agents' published records beside their last activity, which is known only here. */
export async function activePresence(
  ctx: MeshContext,
  branch: Branch,
): Promise<{ key: AgentKey; record: PresenceRecord; lastActivity: number }[]> {
  const found = [];
  for (const record of await ctx.branches.presence(branch)) {
    const key = agentKey(record.agent);
    const lastActivity = await ctx.store.local.lastActivity(key);
    if (lastActivity !== null) found.push({ key, record, lastActivity });
  }
  return found;
}

/** An event of the machine itself or of an agent, with nothing in it yet. */
export function eventOf(
  event: CommitEvent['event'],
  agent: AgentId | null,
  rest: Partial<Omit<CommitEvent, 'event' | 'agent'>> & { summary: string },
): Change['event'] {
  return { event, agent, messages: [], read: [], ...rest };
}

export const nowIso = (ctx: MeshContext): IsoTime => toIso(ctx.clock.now());
