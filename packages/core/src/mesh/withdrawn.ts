import type { JournalView, MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { ownMessagesInTip } from './in-tip.js';

/**
 * Tells own messages that were withdrawn: gone from the own tip though nobody acknowledged them. What has expired leaves
 * the tip likewise: whoever asks looks at that first.
 */
export async function withdrawnHere(
  ctx: MeshContext,
  branch: Branch,
  journal: JournalView,
): Promise<(entry: MessageEntry) => boolean> {
  const inTip = new Set((await ownMessagesInTip(ctx, branch, journal)).map(({ id }) => id));
  const acked = new Set(journal.acked.map(({ id }) => id));
  return ({ id, sender }) => sender === branch.handle && !inTip.has(id) && !acked.has(id);
}
