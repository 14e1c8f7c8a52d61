import { isFolder } from '@git-mesh/core';
import type { Objects, Oid } from '@git-mesh/core';

/**
 * Exactly the objects that commits after `from` (null: from the first) up to `to` brought in. Walks those commits only
 * and reads only folders that changed, so its cost is that of what is new.
 */
export async function newObjects(objects: Objects, from: Oid | null, to: Oid): Promise<Oid[]> {
  const commits: { oid: Oid; tree: Oid; before: Oid | null }[] = [];
  let at: Oid | undefined = to;
  while (at !== undefined && at !== from) {
    const commit: Awaited<ReturnType<Objects['commit']>> = await objects.commit(at);
    const [parent] = commit.parents;
    const before = parent === undefined ? null : (await objects.commit(parent)).tree;
    commits.push({ oid: at, tree: commit.tree, before });
    at = parent;
  }
  const found = new Set<Oid>();
  // The oldest first: a folder that was collected is then complete with what came before it, and a later commit that
  // brings it back (taking out what was added to it) has nothing to add.
  for (const { oid, tree, before } of commits.reverse()) {
    found.add(oid);
    await collect(objects, before, tree, found);
  }
  return [...found];
}

async function collect(objects: Objects, before: Oid | null, after: Oid, found: Set<Oid>): Promise<void> {
  if (before === after || found.has(after)) return;
  found.add(after);
  const old = new Map((before === null ? [] : await objects.tree(before)).map((entry) => [entry.name, entry]));
  for (const entry of await objects.tree(after)) {
    const earlier = old.get(entry.name);
    if (earlier?.oid === entry.oid) continue;
    if (isFolder(entry)) {
      await collect(objects, earlier !== undefined && isFolder(earlier) ? earlier.oid : null, entry.oid, found);
    } else if (entry.mode !== '160000') {
      // A gitlink's commit is in another repository.
      found.add(entry.oid);
    }
  }
}
