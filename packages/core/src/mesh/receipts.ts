import { receiptSummary } from '../domain/commit-summary.js';
import { toIso } from '../domain/ids.js';
import type { Handle, Oid } from '../domain/ids.js';
import { receiptPath } from '../domain/layout.js';
import { encodeReceipt } from '../domain/receipt-record.js';
import type { JournalView } from '../store/ports.js';
import { keyFingerprint } from '../store/public-key.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { writesNothing } from './left.js';
import { receiptFor } from './own-receipts.js';
import { commitChange, eventOf, locked } from './write.js';

/** How far a sender's branch is in the journal. */
export interface Received {
  handle: Handle;
  tip: Oid;
  /** `Mesh-Seq` of `tip`. */
  seq: number;
}

/**
 * States how far the given senders' branches have been fetched, in one commit; none where all of it is stated already.
 * Called only where a message for this machine was journaled: receipts never answer receipts.
 */
export async function commitReceipts(ctx: MeshContext, senders: readonly Received[]): Promise<void> {
  if (senders.length === 0 || (await writesNothing(ctx))) return;
  await locked(ctx, async (state) => {
    const at = toIso(ctx.clock.now());
    const pins = await ctx.store.local.pins();
    const edits = new Map<string, Uint8Array>();
    const stated: Received[] = [];
    for (const sender of senders) {
      const { handle, seq, tip } = sender;
      const key = pins.get(handle);
      // Another process may have come first.
      const before = (await receiptFor(ctx.store, state.branch, handle))?.delivered_through;
      if (key === undefined || before?.commit === tip || (before !== undefined && before.seq > seq)) continue;
      stated.push(sender);
      edits.set(
        receiptPath(handle),
        encodeReceipt({ delivered_through: { seq, commit: tip }, at, key: keyFingerprint(key) }),
      );
    }
    if (stated.length === 0) return;
    const read = stated.map(({ handle, tip }) => ({ sender: handle, commit: tip }));
    const summary = receiptSummary(stated.map(({ handle, seq }) => ({ sender: handle, seq })));
    await commitChange(ctx, state, { edits, event: eventOf('receipt', null, { read, summary }) });
  });
}

/** States what a crash kept from being stated. Cheap while neither the own branch nor the journal moves. */
export async function stateMissingReceipts(ctx: MeshContext): Promise<void> {
  const branch = await ctx.branches.ownBranch();
  const journal = await ctx.store.journal.view();
  const key = [branch.tip, journal.lines].join();
  await commitReceipts(ctx, await ctx.branches.unstated.get(key, () => missingReceipts(ctx, branch, journal)));
}

/**
 * Senders whose messages are in the journal while the own branch does not state it: a crash came between the two. Only
 * those with a pinned key, without which nothing can be stated.
 */
async function missingReceipts(ctx: MeshContext, own: Branch, journal: JournalView): Promise<Received[]> {
  const pins = await ctx.store.local.pins();
  const lastSeq = new Map<Handle, number>();
  for (const { sender, seq } of journal.messages) lastSeq.set(sender, Math.max(seq, lastSeq.get(sender) ?? 0));
  const missing: Received[] = [];
  for (const [handle, seq] of lastSeq) {
    const cursor = journal.cursor(handle);
    // Without a cursor behind the message its batch was cut short: the round does it again.
    if (handle === own.handle || !pins.has(handle) || cursor === undefined || cursor.seq < seq) continue;
    const stated = (await receiptFor(ctx.store, own, handle))?.delivered_through.seq ?? 0;
    if (stated < seq) missing.push({ handle, tip: cursor.commit, seq: cursor.seq });
  }
  return missing;
}
