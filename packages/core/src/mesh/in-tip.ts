import type { Handle, Oid, Ulid } from '../domain/ids.js';
import { isMeshFolder, messageFolder, parsePath } from '../domain/layout.js';
import { isFolder } from '../domain/git-tree.js';
import { diffTree, lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry, Objects } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

const maxFiles = 500_000;

/** The messages that stand in branches' tips, by ULID; a tip that moved is followed by what differs in it. */
export class TipMessages {
  readonly #objects: Objects;
  readonly #known = new Map<Handle, { tree: Oid; ids: ReadonlySet<Ulid> }>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Those below `folders`, which must be the same at every call for a branch. */
  async of(branch: Branch, folders: readonly string[]): Promise<ReadonlySet<Ulid>> {
    const known = this.#known.get(branch.handle);
    if (known?.tree === branch.tree) return known.ids;
    const ids = new Set(known?.ids);
    for (const prefix of folders) {
      const changes = diffTree({
        from: known?.tree ?? null,
        to: branch.tree,
        readTree: (oid) => this.#objects.tree(oid),
        prefix,
        maxEntries: maxFiles,
        descend: isMeshFolder,
      });
      for await (const { path, mode, after } of changes) {
        const place = parsePath(path);
        if (place?.kind !== 'message') continue;
        if (after !== null && mode === '100644') ids.add(place.id);
        else ids.delete(place.id);
      }
    }
    this.#known.set(branch.handle, { tree: branch.tree, ids });
    return ids;
  }
}

/** Own messages whose files stand in the own branch's tip. What was pruned long ago costs nothing here. */
export async function ownMessagesInTip(
  ctx: MeshContext,
  branch: Branch,
  journal: JournalView,
): Promise<MessageEntry[]> {
  const ids = await ctx.branches.messages.of(branch, ['messages/']);
  return [...ids].map((id) => journal.byIdFrom(branch.handle, id)).filter((entry) => entry !== undefined);
}

/** Paths of own acknowledgements whose message is gone from its sender's accepted tip. */
export async function staleAcks(ctx: MeshContext, branch: Branch, journal: JournalView): Promise<string[]> {
  const readTree = (oid: Oid): ReturnType<typeof ctx.store.objects.tree> => ctx.store.objects.tree(oid);
  const acks = await lookupPath({ root: branch.tree, readTree, path: 'acks' });
  const stale: string[] = [];
  const branches = await ctx.branches.all();
  for (const folder of acks === null ? [] : await readTree(acks.oid)) {
    const sender = branches.find(({ handle }) => handle === folder.name);
    const standing = sender === undefined ? null : await standingFrom(ctx, sender);
    // What cannot be told (a journal that was lost, a machine that is gone) stays.
    if (sender === undefined || standing === null || !isFolder(folder)) continue;
    for (const { name } of await readTree(folder.oid)) {
      if (standing.has(name.slice(0, -'.yaml'.length) as Ulid)) continue;
      const path = `acks/${sender.handle}/${name}`;
      const place = parsePath(path);
      if (place?.kind !== 'ack') continue;
      const wasHere =
        journal.byIdFrom(sender.handle, place.id) !== undefined || journal.mayLack(place.id, sender.handle);
      if (wasHere) stale.push(path);
    }
  }
  return stale;
}

/** The messages for this machine (of the own branch: all) that stand in a sender's tip. Null where that cannot be read. */
export async function standingFrom(ctx: MeshContext, sender: Branch): Promise<ReadonlySet<Ulid> | null> {
  const { own, messages } = ctx.branches;
  const folders = sender.handle === own ? ['messages/'] : [messageFolder(own), messageFolder('*')];
  try {
    return await messages.of(sender, folders);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
