import { fromIso } from '../domain/ids.js';
import type { Handle, Oid, Ulid } from '../domain/ids.js';
import { parseCommitMessage } from '../domain/commit-message.js';
import { believedExpiry } from '../domain/message-life.js';
import { ackFilesHere } from './acknowledged.js';
import type { MeshContext } from './context.js';
import { standingFrom } from './in-tip.js';
import { receiptFor } from './own-receipts.js';

/** Where nobody can tell what still stands: longer than any message lives. */
const unknownMs = 62 * 86_400_000;

/**
 * Once the journal has grown by so much that it is worth it, what is done with goes out of every process's way: what
 * stands in no tip any more, is acknowledged in none, and is found by no rule. Cheap otherwise.
 */
export async function settleJournal(ctx: MeshContext): Promise<void> {
  const { journal } = ctx.store;
  if (!(await journal.isLong())) return;
  const standing = await standingHere(ctx);
  const acked = await ackedHere(ctx);
  const now = ctx.clock.now();
  await journal.settle({
    own: ctx.branches.own,
    now,
    commits: await namedCommits(ctx),
    message: (entry) => {
      const ids = standing.get(entry.sender);
      if (ids === undefined) return now - fromIso(entry.at) < unknownMs;
      // The same key gives the same message for as long as that lives, wherever it stands.
      const isKeyed = entry.key !== null && now < believedExpiry(entry, now);
      return ids.has(entry.id) || isKeyed || acked.get(entry.sender)?.has(entry.id) === true;
    },
  });
}

/** By sender; none of one whose tip cannot be read, or is not what counts (a machine that was revoked, or waits). */
async function standingHere(ctx: MeshContext): Promise<Map<Handle, ReadonlySet<Ulid>>> {
  const standing = new Map<Handle, ReadonlySet<Ulid>>();
  for (const branch of await ctx.branches.all()) {
    const ids = branch.revoked === undefined ? await standingFrom(ctx, branch) : null;
    if (ids !== null) standing.set(branch.handle, ids);
  }
  return standing;
}

/** The files in the own tip that acknowledge what is journaled, by sender. */
async function ackedHere(ctx: MeshContext): Promise<Map<Handle, ReadonlyMap<string, Oid>>> {
  const filesOf = await ackFilesHere(ctx);
  const { messages } = await ctx.store.journal.view();
  const files = new Map<Handle, ReadonlyMap<string, Oid>>();
  for (const sender of new Set(messages.map((entry) => entry.sender))) files.set(sender, await filesOf(sender));
  return files;
}

/** Own commits by whose reading other machines' clocks are judged: see machine-clocks.ts. */
async function namedCommits({ branches, store }: MeshContext): Promise<ReadonlySet<Oid>> {
  const named = new Set<Oid>();
  for (const branch of await branches.all()) {
    if (branch.handle === branches.own) continue;
    const receipt = await receiptFor(store, branch, branches.own);
    if (receipt !== null) named.add(receipt.delivered_through.commit);
    const tip = parseCommitMessage((await store.objects.commit(branch.tip)).message);
    for (const { sender, commit } of tip?.read ?? []) if (sender === branches.own) named.add(commit);
  }
  return named;
}
