import { agentKey, toIso } from '../domain/ids.js';
import type { AgentId, IsoTime } from '../domain/ids.js';
import type { CommitEvent } from '../domain/records.js';
import { journalOwnBranch } from './arrivals.js';
import type { MeshContext } from './context.js';
import { refuseLeft } from './left.js';
import { ridingRenewals } from './renewals.js';
import { together } from './run.js';
import type { Locked } from './run.js';

export interface Change {
  edits: ReadonlyMap<string, Uint8Array | null>;
  event: Omit<CommitEvent, 'seq' | 'journal'> & { journal?: number };
}

/**
 * Runs `decide` under the store lock, on a journal that has everything of the own branch, so that what a crash left
 * between a commit and its journal entry is mended before anything is decided.
 * @throws MeshError `store_copied`, `handle_conflict`: this store does not write, see {@link Ownership}; `machine_left`
 */
export async function locked<T>(ctx: MeshContext, decide: (state: Locked) => Promise<T>): Promise<T> {
  return ctx.store.withLock(async () => {
    await ctx.store.ownership.require();
    const branch = await ctx.branches.ownBranch();
    refuseLeft(branch);
    await ctx.store.key.settle(branch.machine?.key ?? null);
    const journal = await journalOwnBranch(ctx.store, branch, ctx.clock.now());
    return decide({ branch, journal });
  });
}

/**
 * Commits a change on the own branch and journals it, durably unless it is part of a run. Caller holds the lock (see
 * {@link locked}).
 */
export async function commitChange(ctx: MeshContext, state: Locked, change: Change): Promise<Locked> {
  const { run } = state;
  if (run === undefined) return together(ctx, state, (inRun) => commitChange(ctx, inRun, change));
  const now = ctx.clock.now();
  const edits = new Map(change.edits);
  const acting = change.event.agent === null ? null : agentKey(change.event.agent);
  for (const [path, bytes] of await ridingRenewals(ctx, state.branch, acting)) {
    if (!edits.has(path)) edits.set(path, bytes);
  }
  return run.commit({
    edits,
    event: { ...change.event, journal: change.event.journal ?? state.journal.highest },
    author: change.event.agent,
    at: now,
  });
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
