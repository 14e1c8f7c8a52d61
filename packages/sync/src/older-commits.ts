import { parseCommitMessage, seqOf } from '@git-mesh/core';
import type { CommitObject, Objects, Oid, SigningKeys } from '@git-mesh/core';
import { verifyCommits } from './verify.js';
import type { Reject, Signed } from './verify.js';

/** What was found below the edge of a branch's history. */
export interface OlderCommits {
  /** How many of them passed. */
  good: number;
  /** The oldest commit that passed, the edge itself where none did; null where all of the history did. */
  end: Oid | null;
  /** What is wrong with the commit before `end`; null where it is not here, or `end` is another edge. */
  reject: Reject | null;
}

/** Commits whose signatures are checked together. */
const commitsAtOnce = 256;

/**
 * Checks what is here below `edge`, newest first: single parents, counted down by `Mesh-Seq` to 1, each signed by the
 * key in force then. Stops at the first that does not pass, at the next of `edges`, and where nothing more is here.
 */
export async function checkOlder(
  objects: Objects,
  { edge, edges, keys }: { edge: Oid; edges: ReadonlySet<Oid>; keys: SigningKeys },
): Promise<OlderCommits> {
  let end = edge;
  let good = 0;
  let commit = await objects.commit(edge);
  // The edge itself was checked when it came.
  keys.older(parseCommitMessage(commit.message)?.event);
  for (;;) {
    const { found, last, reject } = await countDown(objects, { from: commit, edges, keys });
    const bad = await firstBad(objects, found);
    const passed = bad === null ? found : found.slice(0, bad.at);
    good += passed.length;
    end = passed.at(-1)?.oid ?? end;
    if (bad !== null) return { good, end, reject: bad.reject };
    if (reject !== null) return { good, end, reject };
    if (last === 'first') return { good, end: null, reject: null };
    if (last === 'end') return { good, end, reject: null };
    commit = await objects.commit(end);
  }
}

interface Counted {
  found: Signed[];
  /** `more` where the number ran out. */
  last: 'first' | 'end' | 'more';
  reject: Reject | null;
}

async function countDown(
  objects: Objects,
  { from, edges, keys }: { from: CommitObject; edges: ReadonlySet<Oid>; keys: SigningKeys },
): Promise<Counted> {
  const found: Signed[] = [];
  let commit = from;
  while (found.length < commitsAtOnce) {
    const [parent] = commit.parents;
    const seq = seqOf(commit) ?? 0;
    if (parent === undefined) {
      return seq === 1 ? { found, last: 'first', reject: null } : { found, last: 'end', reject: notFirst(seq) };
    }
    if (!(await objects.has(parent))) return { found, last: 'end', reject: null };
    commit = await objects.commit(parent);
    const said = parseCommitMessage(commit.message);
    if (said?.seq !== seq - 1) return { found, last: 'end', reject: miscounted(parent, seq - 1) };
    const key = keys.older(said.event);
    if (key === undefined) return { found, last: 'end', reject: unknownKey(parent) };
    found.push({ oid: parent, key });
    if (edges.has(parent)) return { found, last: 'end', reject: null };
  }
  return { found, last: 'more', reject: null };
}

async function firstBad(objects: Objects, commits: readonly Signed[]): Promise<{ at: number; reject: Reject } | null> {
  if (commits.length === 0 || (await verifyCommits(objects, commits)) === null) return null;
  for (const [at, commit] of commits.entries()) {
    const reject = await verifyCommits(objects, [commit]);
    if (reject !== null) return { at, reject };
  }
  return null;
}

const miscounted = (oid: Oid, seq: number): Reject => ({
  kind: 'reject',
  problem: 'foreign_commit',
  message: `commit ${oid.slice(0, 10)} is not its machine's: its Mesh-Seq is not ${seq}`,
});

const unknownKey = (oid: Oid): Reject => ({
  kind: 'reject',
  problem: 'wrong_key',
  message: `commit ${oid.slice(0, 10)} rotates a key that its machine.yaml does not name`,
});

const notFirst = (seq: number): Reject => ({
  kind: 'reject',
  problem: 'foreign_commit',
  message: `its first commit has the Mesh-Seq ${seq}: expected 1`,
});
