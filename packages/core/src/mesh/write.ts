import { agentKey, toIso } from '../domain/ids.js';
import type { AgentId, EpochMillis, IsoTime } from '../domain/ids.js';
import type { CommitEvent } from '../domain/records.js';
import type { JournalView } from '../store/ports.js';
import { commitOnBranch } from '../store/commit.js';
import { MeshError } from '../errors.js';
import { arrivalsOf, journalOwnBranch } from './arrivals.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { withEntries } from './journal-overlay.js';
import { refuseLeft } from './left.js';
import { ridingRenewals } from './renewals.js';

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

/** Commits a change on the own branch and journals it. Caller holds the lock (see {@link locked}). */
export async function commitChange(ctx: MeshContext, state: Locked, change: Change): Promise<Locked> {
  const now = ctx.clock.now();
  const edits = new Map(change.edits);
  const acting = change.event.agent === null ? null : agentKey(change.event.agent);
  for (const [path, bytes] of await ridingRenewals(ctx, state.branch, acting)) {
    if (!edits.has(path)) edits.set(path, bytes);
  }
  await commitOnBranch(ctx.store, {
    edits,
    event: { ...change.event, journal: change.event.journal ?? state.journal.highest },
    author: change.event.agent,
    at: now,
  });
  const branch = await ctx.branches.ownBranch();
  return { branch, journal: await journalCommitted(ctx, state, branch, now) };
}

/**
 * The commit is made: a disk that takes nothing more right after it must not make a failure of it, or the caller would send again
 * what is stored. The next holder of the lock journals it, under the number that the commit itself names.
 */
async function journalCommitted(
  ctx: MeshContext,
  state: Locked,
  branch: Branch,
  now: EpochMillis,
): Promise<JournalView> {
  try {
    return await journalOwnBranch(ctx.store, branch, now);
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    ctx.logger.warn(`the journal could not be written, which is made up for later: ${error.message}`);
    return withEntries(state.journal, await arrivalsOf(ctx.store, branch, state.journal, now));
  }
}

const diskTrouble: ReadonlySet<string> = new Set(['disk_full', 'read_only', 'store_unusable']);

/** What a disk that is full, read-only, at a limit (EFBIG, EDQUOT) or failing (EIO) answers to a write. */
export function isDiskTrouble(error: unknown): error is MeshError {
  return error instanceof MeshError && diskTrouble.has(error.errorName);
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
