import { receiptSummary } from '../domain/commit-summary.js';
import { toIso } from '../domain/ids.js';
import type { Handle } from '../domain/ids.js';
import { receiptPath } from '../domain/layout.js';
import { decodeReceipt, encodeReceipt } from '../domain/receipt-record.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { commitChange, eventOf, locked } from './write.js';

/**
 * States how far the given senders' branches have been fetched, in one commit; what another process has stated already
 * is not stated again. Called only where a message for this machine was journaled: receipts never answer receipts.
 */
export async function commitReceipts(ctx: MeshContext, fetched: readonly Branch[]): Promise<void> {
  if (fetched.length === 0) return;
  await locked(ctx, async (state) => {
    const senders: Branch[] = [];
    for (const sender of fetched) {
      if ((await statedThrough(ctx, state.branch, sender.handle)) < sender.seq) senders.push(sender);
    }
    if (senders.length === 0) return;
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

/**
 * The senders of journaled messages that no receipt covers: a process died after it had numbered them. Without this they
 * would wait for the sender's next message. Cheap while neither the own branch nor the journal moves.
 */
export async function owedReceipts({ branches, store }: MeshContext): Promise<Branch[]> {
  const own = await branches.ownBranch();
  const view = await store.journal.view();
  const handles = await branches.receiptsOwed.get(`${own.tip} ${view.highest}`, async () => {
    const last = new Map<Handle, number>();
    for (const { sender, seq } of view.messages) last.set(sender, Math.max(seq, last.get(sender) ?? 0));
    last.delete(own.handle);
    const pins = await store.local.pins();
    const owed: Handle[] = [];
    for (const [sender, seq] of last) {
      if (pins.has(sender) && (await statedThrough({ branches }, own, sender)) < seq) owed.push(sender);
    }
    return owed;
  });
  const found = await Promise.all(handles.map((handle) => branches.get(handle)));
  return found.filter((branch) => branch !== null);
}

/** The `Mesh-Seq` that the own branch's receipt for `sender` covers; 0 where it has none that can be read. */
async function statedThrough(
  { branches }: Pick<MeshContext, 'branches'>,
  own: Branch,
  sender: Handle,
): Promise<number> {
  const blob = await branches.file(own, receiptPath(sender));
  if (blob === null) return 0;
  try {
    return decodeReceipt(await branches.read(blob)).delivered_through.seq;
  } catch (error) {
    if (error instanceof MeshError) return 0;
    throw error;
  }
}
