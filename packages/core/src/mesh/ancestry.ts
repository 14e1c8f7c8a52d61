import { parseCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import type { Objects } from '../store/ports.js';

/** No walk along a branch goes further than this: a machine that was away longer catches up in several. */
export const maxCommits = 200_000;

/** `Mesh-Seq`; null where the commit is not a mesh commit. */
export function seqOf(commit: CommitObject): number | null {
  return parseCommitMessage(commit.message)?.seq ?? null;
}

/** Only along single parents, down to the counter of `older`. */
export async function isAncestor(objects: Objects, older: Oid, newer: Oid): Promise<boolean> {
  const stop = seqOf(await objects.commit(older)) ?? 0;
  let at = newer;
  for (let steps = 0; steps <= maxCommits; steps++) {
    if (at === older) return true;
    const commit = await objects.commit(at);
    const [parent] = commit.parents;
    const seq = seqOf(commit);
    if (parent === undefined || seq === null || seq <= stop) return false;
    at = parent;
  }
  return false;
}
