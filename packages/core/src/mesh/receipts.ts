import { receiptSummary } from '../domain/commit-summary.js';
import { toIso } from '../domain/ids.js';
import { receiptPath } from '../domain/layout.js';
import { encodeReceipt } from '../domain/receipt-record.js';
import { keyFingerprint } from '../store/public-key.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { commitChange, eventOf, locked } from './write.js';

/**
 * States how far the given senders' branches have been fetched, in one commit. Called only in a round that journaled a
 * message for this machine: receipts never answer receipts.
 */
export async function commitReceipts(ctx: MeshContext, senders: readonly Branch[]): Promise<void> {
  if (senders.length === 0) return;
  await locked(ctx, async (state) => {
    const at = toIso(ctx.clock.now());
    const pins = await ctx.store.local.pins();
    const edits = new Map<string, Uint8Array>();
    for (const { handle, seq, tip } of senders) {
      const key = pins.get(handle);
      if (key === undefined) continue;
      edits.set(
        receiptPath(handle),
        encodeReceipt({ delivered_through: { seq, commit: tip }, at, key: keyFingerprint(key) }),
      );
    }
    const read = senders.map(({ handle, tip }) => ({ sender: handle, commit: tip }));
    const summary = receiptSummary(senders.map(({ handle, seq }) => ({ sender: handle, seq })));
    await commitChange(ctx, state, { edits, event: eventOf('receipt', null, { read, summary }) });
  });
}
