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

/**
 * Only along single parents, down to the counter of `older`. False also where the history that is here ends before it.
 */
export async function isAncestor(objects: Objects, older: Oid, newer: Oid): Promise<boolean> {
  const stop = seqOf(await objects.commit(older)) ?? 0;
  const edges = await objects.edges();
  let at = newer;
  for (let steps = 0; steps <= maxCommits; steps++) {
    if (at === older) return true;
    const commit = await objects.commit(at);
    const [parent] = commit.parents;
    const seq = seqOf(commit);
    if (parent === undefined || edges.has(at) || seq === null || seq <= stop) return false;
    at = parent;
  }
  return false;
}

/**
 * The newest commit that two histories share, along single parents; null where they share none, or none that is here:
 * what is below an edge of this store's history may be missing.
 */
export async function forkPoint(objects: Objects, one: Oid, other: Oid): Promise<Oid | null> {
  const edges = await objects.edges();
  const step = async (oid: Oid | undefined): Promise<Step | null> => {
    if (oid === undefined) return null;
    const commit = await objects.commit(oid);
    return { oid, seq: seqOf(commit) ?? 0, parent: edges.has(oid) ? undefined : commit.parents[0] };
  };
  let a = await step(one);
  let b = await step(other);
  for (let steps = 0; steps <= maxCommits && a !== null && b !== null; steps++) {
    if (a.oid === b.oid) return a.oid;
    const later = a.seq - b.seq;
    // Where the counters are equal and the commits are not, both went on from an earlier one.
    if (later >= 0) a = await step(a.parent);
    if (later <= 0 && a !== null) b = await step(b.parent);
  }
  return null;
}

interface Step {
  oid: Oid;
  seq: number;
  parent: Oid | undefined;
}

/** Many years of a busy machine; some 60 bytes of memory each. */
const maxWalk = 1_000_000;

/**
 * The commits after `older` (null: from the first) up to `newer`, oldest first, along single parents; null where `newer`
 * does not go on from `older`, and where the history that is here ends on the way.
 */
export async function commitsBetween(objects: Objects, older: Oid | null, newer: Oid): Promise<Oid[] | null> {
  const stop = older === null ? 0 : (seqOf(await objects.commit(older)) ?? 0);
  const edges = await objects.edges();
  const found: Oid[] = [];
  let at: Oid | undefined = newer;
  while (at !== undefined && at !== older) {
    if (found.length >= maxWalk || edges.has(at)) return null;
    found.push(at);
    const commit: CommitObject = await objects.commit(at);
    // The counter tells early where another history was taken; the first commits of a charter carry none.
    if (older !== null && (seqOf(commit) ?? 0) <= stop) return null;
    at = commit.parents[0];
  }
  return at === undefined && older !== null ? null : found.reverse();
}
