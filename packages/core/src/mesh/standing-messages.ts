import type { TreeEntry } from '../domain/git-object.js';
import { isFolder } from '../domain/git-tree.js';
import type { Handle, Oid } from '../domain/ids.js';
import type { MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';

/**
 * Tells whether a message's file still stands in its sender's accepted tip. Each folder is looked into once, found by
 * its parent's: an inbox may have to look for every message of a week, in a folder of its own each.
 */
export function inTips(ctx: MeshContext): (entry: MessageEntry) => Promise<boolean> {
  const folders = new Map<string, ReadonlyMap<string, TreeEntry>>();
  const entriesIn = async (tree: Oid): Promise<ReadonlyMap<string, TreeEntry>> =>
    new Map((await ctx.store.objects.tree(tree)).map((entry) => [entry.name, entry]));
  const folderAt = async (sender: Handle, path: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    const id = `${sender}:${path}`;
    const known = folders.get(id);
    if (known !== undefined) return known;
    const tree = path === '' ? (await ctx.branches.get(sender))?.tree : await treeBelow(sender, path);
    const found = tree === undefined ? new Map<string, TreeEntry>() : await entriesIn(tree);
    folders.set(id, found);
    return found;
  };
  const treeBelow = async (sender: Handle, path: string): Promise<Oid | undefined> => {
    const { folder, name } = split(path);
    const entry = (await folderAt(sender, folder)).get(name);
    return entry !== undefined && isFolder(entry) ? entry.oid : undefined;
  };
  return async (entry) => {
    const { folder, name } = split(entry.path);
    return (await folderAt(entry.sender, folder)).has(name);
  };
}

function split(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1) };
}
