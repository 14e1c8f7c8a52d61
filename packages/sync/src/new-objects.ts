import { MeshError, decodeTree, differingRuns, isFolder } from '@git-mesh/core';
import type { Objects, Oid } from '@git-mesh/core';

export interface NewObjects {
  oids: Oid[];
  /** Folders' earlier forms, by the later one: for deltas. */
  bases: ReadonlyMap<Oid, Oid>;
}

/** What the walk needs of {@link Objects}. */
export type ObjectsRead = Pick<Objects, 'read' | 'commit' | 'edges'>;

/**
 * Exactly the objects that commits after `from` (null: from the first) up to `to` brought in. Walks those commits only
 * and reads only folders that changed, so its cost is that of what is new.
 *
 * @throws MeshError `history_incomplete` where the history that is here ends on the way.
 */
export async function newObjects(objects: ObjectsRead, from: Oid | null, to: Oid): Promise<Oid[]> {
  return (await newObjectsWithBases(objects, from, to)).oids;
}

export async function newObjectsWithBases(objects: ObjectsRead, from: Oid | null, to: Oid): Promise<NewObjects> {
  const edges = await objects.edges();
  const commits: { oid: Oid; tree: Oid }[] = [];
  let at: Oid | undefined = to;
  while (at !== undefined && at !== from) {
    const commit: Awaited<ReturnType<ObjectsRead['commit']>> = await objects.commit(at);
    // What lies before it is new to the other side too, and not here.
    if (edges.has(at)) throw incompleteHistory(at);
    commits.push({ oid: at, tree: commit.tree });
    at = commit.parents[0];
  }
  const found: Found = { oids: new Set(), bases: new Map() };
  let before = at === undefined ? null : (await objects.commit(at)).tree;
  // The oldest first: a folder that was collected is then complete with what came before it, and a later commit that
  // brings it back (taking out what was added to it) has nothing to add.
  for (const { oid, tree } of commits.reverse()) {
    found.oids.add(oid);
    await collect(objects, before, tree, found);
    before = tree;
  }
  return { oids: [...found.oids], bases: found.bases };
}

const incompleteHistory = (edge: Oid): MeshError =>
  new MeshError(
    'history_incomplete',
    `this store has only the newer part of that history, from commit ${edge.slice(0, 10)} on: get the rest with git-mesh sync --history`,
    { data: { commit: edge } },
  );

interface Found {
  oids: Set<Oid>;
  bases: Map<Oid, Oid>;
}

async function collect(objects: ObjectsRead, before: Oid | null, after: Oid, found: Found): Promise<void> {
  if (before === after || found.oids.has(after)) return;
  found.oids.add(after);
  if (before !== null) found.bases.set(after, before);
  const runs = differingRuns(
    before === null ? new Uint8Array() : (await objects.read(before)).data,
    (await objects.read(after)).data,
  );
  const old = new Map(decodeTree(runs.before).map((entry) => [entry.name, entry]));
  for (const entry of decodeTree(runs.after)) {
    const earlier = old.get(entry.name);
    if (earlier?.oid === entry.oid) continue;
    if (isFolder(entry)) {
      await collect(objects, earlier !== undefined && isFolder(earlier) ? earlier.oid : null, entry.oid, found);
    } else if (entry.mode !== '160000') {
      // A gitlink's commit is in another repository.
      found.oids.add(entry.oid);
    }
  }
}
