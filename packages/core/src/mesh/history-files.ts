import type { CommitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { lookupPath } from '../domain/tree-edit.js';
import { maxRecordBytes } from './branches.js';
import type { MeshContext } from './context.js';

/** The tree of a commit and the one before it, which still has what the commit took out. */
export async function treesAround(ctx: MeshContext, { tree, parents }: CommitObject): Promise<Oid[]> {
  const [parent] = parents;
  const before = parent === undefined ? null : await treeOf(ctx, parent);
  return before === null ? [tree] : [tree, before];
}

/** Null for a commit that is not in this store. */
export async function treeOf({ store }: MeshContext, oid: Oid): Promise<Oid | null> {
  return (await store.objects.has(oid)) ? (await store.objects.commit(oid)).tree : null;
}

/** A file of a tree of the history; null where there is none, or no plain file. @throws MeshError for one that is too large. */
export async function fileAt({ store }: MeshContext, tree: Oid, path: string): Promise<Uint8Array | null> {
  const file = await lookupPath({ root: tree, readTree: (oid) => store.objects.tree(oid), path });
  return file?.mode === '100644' ? await store.objects.blob(file.oid, maxRecordBytes) : null;
}
