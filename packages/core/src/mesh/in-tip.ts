import type { Oid } from '../domain/ids.js';
import { parsePath } from '../domain/layout.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { regularFiles } from './tree-files.js';

const maxFiles = 200_000;

/** Own messages whose files stand in the own branch's tip. What was pruned long ago costs nothing here. */
export async function ownMessagesInTip(
  ctx: MeshContext,
  branch: Branch,
  journal: JournalView,
): Promise<MessageEntry[]> {
  const ids = await ctx.branches.ownMessages.get([branch], async () => {
    const found = [];
    for await (const { path } of regularFiles(ctx.store.objects, branch.tree, 'messages/', maxFiles)) {
      const place = parsePath(path);
      if (place?.kind === 'message') found.push(place.id);
    }
    return found;
  });
  return ids.map((id) => journal.byIdFrom(branch.handle, id)).filter((entry) => entry !== undefined);
}

/** Paths of own acknowledgements whose message is gone from its sender's accepted tip. */
export async function staleAcks(ctx: MeshContext, branch: Branch, journal: JournalView): Promise<readonly string[]> {
  const senders = await ctx.branches.all();
  return ctx.branches.staleAcks.get([branch, ...senders], async () => {
    const tips = new Map(senders.map((sender) => [sender.handle, sender]));
    const stale: string[] = [];
    for await (const { path } of regularFiles(ctx.store.objects, branch.tree, 'acks/', maxFiles)) {
      const place = parsePath(path);
      if (place?.kind !== 'ack') continue;
      const entry = journal.byIdFrom(place.sender, place.id);
      const sender = tips.get(place.sender);
      // What cannot be told (a journal that was lost, a machine that is gone) stays.
      if (entry === undefined || sender === undefined) continue;
      if (!(await stands(ctx, sender, entry))) stale.push(path);
    }
    return stale;
  });
}

/** True while a message's file stands in its sender's accepted tip. */
async function stands(ctx: MeshContext, sender: Branch, entry: MessageEntry): Promise<boolean> {
  const readTree = (oid: Oid): ReturnType<typeof ctx.store.objects.tree> => ctx.store.objects.tree(oid);
  return (await lookupPath({ root: sender.tree, readTree, path: entry.path })) !== null;
}
