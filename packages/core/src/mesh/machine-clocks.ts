import { parseCommitMessage } from '../domain/commit-message.js';
import { fromIso } from '../domain/ids.js';
import type { EpochMillis, Handle, Oid } from '../domain/ids.js';
import type { MessageFacts } from '../domain/journal-facts.js';
import { arrivedAt } from '../domain/message-life.js';
import { provenSkew } from '../domain/skew.js';
import type { ClockEvidence, MachineSkew } from '../domain/skew.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { leftAt } from './left.js';
import { inTips } from './standing-messages.js';
import { receiptFor } from './own-receipts.js';

/** How far the clock of a branch's machine is proven to be off ours, in milliseconds; positive is ahead. */
export async function skewOf(ctx: MeshContext, branch: Branch, journal: JournalView): Promise<number> {
  if (branch.handle === ctx.branches.own) return 0;
  const now = ctx.clock.now();
  const cursor = journal.cursor(branch.handle);
  const arrived = cursor?.commit === branch.tip ? arrivedAt(cursor, now) : now;
  return provenSkew({
    newest: { datedAt: branch.committedAt, arrivedAt: arrived },
    read: await readOfOurs(ctx, branch, journal),
  });
}

/** The same for every other machine that has not left. */
export async function machineSkews(ctx: MeshContext): Promise<MachineSkew[]> {
  const journal = await ctx.store.journal.view();
  const skews: MachineSkew[] = [];
  for (const branch of await ctx.branches.all()) {
    if (branch.handle === ctx.branches.own || leftAt(branch) !== null) continue;
    skews.push({ machine: branch.handle, skewMs: await skewOf(ctx, branch, journal) });
  }
  return skews;
}

/** Journaled messages as the rules are to judge them: with how far their senders' clocks are proven to be behind. */
export async function judged<Entry extends MessageFacts>(
  ctx: MeshContext,
  entries: readonly Entry[],
): Promise<(Entry & { behind_ms?: number })[]> {
  const senders = new Set(entries.map((entry) => entry.sender));
  senders.delete(ctx.branches.own);
  // Mostly there is no freeze to judge: then nothing is read for it.
  if (senders.size === 0) return [...entries];
  const journal = await ctx.store.journal.view();
  const behind = new Map<Handle, number>();
  for (const [sender, branch] of await ctx.branches.those(senders)) {
    const skewMs = await skewOf(ctx, branch, journal);
    if (skewMs < 0) behind.set(sender, -skewMs);
  }
  if (behind.size === 0) return [...entries];
  return entries.map((entry) => {
    const behindMs = behind.get(entry.sender);
    return behindMs === undefined ? entry : { ...entry, behind_ms: behindMs };
  });
}

/** What of the journal tells the freezes in force, as it is to be judged. */
export async function judgedFreezes(ctx: MeshContext, journal: JournalView): Promise<MessageFacts[]> {
  const messages = journal.messages.filter(({ type }) => type === 'freeze' || type === 'freeze-clear');
  return judged(ctx, await believedFreezes(ctx, messages));
}

/** A revoked machine's freezes end; what it cleared stays cleared where it did so before the commit named then. */
async function believedFreezes(ctx: MeshContext, messages: readonly MessageEntry[]): Promise<readonly MessageEntry[]> {
  const { ruling } = await ctx.branches.roster();
  if (ruling.cuts.size === 0) return messages;
  const stands = inTips(ctx);
  const believed: MessageEntry[] = [];
  for (const entry of messages) {
    const isRevoked = entry.sender !== ctx.branches.own && ruling.cuts.has(entry.sender);
    if (!isRevoked || (entry.type === 'freeze-clear' && (await stands(entry)))) believed.push(entry);
  }
  return believed;
}

/**
 * The reading of our commits that says most of the machine's clock: by its receipt, which stands in its tip, or by the
 * tip itself where that is an acknowledgement. Kept by tip.
 */
async function readOfOurs(ctx: MeshContext, branch: Branch, journal: JournalView): Promise<ClockEvidence['read']> {
  const known = ctx.branches.readings.get(branch.tip);
  if (known !== undefined) return known;
  const own = ctx.branches.own;
  const found: NonNullable<ClockEvidence['read']>[] = [];
  const add = async (commit: Oid, datedAt: EpochMillis): Promise<void> => {
    const madeAt = await madeHere(ctx, commit, journal);
    if (madeAt !== null) found.push({ datedAt, madeAt });
  };
  const receipt = await receiptFor(ctx.store, branch, own);
  if (receipt !== null) await add(receipt.delivered_through.commit, fromIso(receipt.at));
  const tip = parseCommitMessage((await ctx.store.objects.commit(branch.tip)).message);
  const read = tip?.read.find(({ sender }) => sender === own);
  if (read !== undefined) await add(read.commit, branch.committedAt);
  const [first = null] = found.sort((a, b) => a.datedAt - a.madeAt - (b.datedAt - b.madeAt));
  ctx.branches.readings.set(branch.tip, first, 1);
  return first;
}

/**
 * When an own commit was made by our clock: as it is dated and as it was journaled, the earlier of the two. Null where
 * that is not in the journal, or where the clock was set back since: then our own word proves nothing.
 */
async function madeHere(ctx: MeshContext, commit: Oid, journal: JournalView): Promise<EpochMillis | null> {
  const tip = journal.tips(ctx.branches.own).findLast((one) => one.commit === commit);
  if (tip === undefined || tip.at_most !== undefined) return null;
  try {
    return Math.min((await ctx.store.objects.commit(commit)).committer.at, fromIso(tip.at));
  } catch (error) {
    // What is gone from this store proves nothing.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
