import { MeshError, isAncestor, machineAt, maxCommits, seqOf, sshVerifier } from '@git-mesh/core';
import type { CommitObject, Handle, MachineRecord, Objects, Oid, SshVerifier, Ulid } from '@git-mesh/core';

/** What a branch's new tip came to. */
export type Verdict =
  | { kind: 'advance'; machine: MachineRecord }
  /** The remote has an earlier commit of what is accepted here: nothing is wrong, it is behind. */
  | { kind: 'behind' }
  | Reject;

export interface Reject {
  kind: 'reject';
  problem: RejectKind;
  message: string;
}

export type RejectKind =
  | 'unreadable'
  | 'wrong_identity'
  | 'unsigned'
  | 'wrong_key'
  | 'rewritten'
  | 'foreign_commit'
  | 'not_admitted'
  | 'revoked';

/** Enough to keep every thread of node's pool at work. */
const signaturesAtOnce = 64;

export interface AdvanceOptions {
  objects: Objects;
  handle: Handle;
  mesh: Ulid;
  accepted: Oid | null;
  to: Oid;
  pinned: string | null;
}

/** What is left to check before a branch may move. */
export interface Advance {
  kind: 'advance';
  machine: MachineRecord;
  /** The commits to check, oldest first and the new tip last: only that one at first sight, whose signature vouches for all. */
  commits: readonly Oid[];
}

/**
 * Decides whether a branch may move to `to`: along single parents from `accepted`, every commit signed by the pinned
 * key and counted by `Mesh-Seq`. At first sight (nothing accepted) the tip alone is checked: its signature vouches for
 * all that it shows.
 */
export async function verifyAdvance(options: AdvanceOptions): Promise<Verdict> {
  const plan = await planAdvance(options);
  if (plan.kind !== 'advance') return plan;
  return (await verifyCommits(options.objects, plan.commits, plan.machine.key)) ?? plan;
}

/** All of {@link verifyAdvance} but the commits' signatures, which are what takes time. */
export async function planAdvance(options: AdvanceOptions): Promise<Exclude<Verdict, { kind: 'advance' }> | Advance> {
  const { objects, handle, mesh, accepted, to, pinned } = options;
  try {
    const tip = await objects.commit(to);
    const machine = await readMachine(objects, tip);
    const identity = checkIdentity(machine, { handle, mesh, pinned });
    if (identity !== null) return identity;
    if (seqOf(tip) === null) return foreign(to, 'it has no Mesh-Seq');
    if (accepted === null) return { kind: 'advance', machine, commits: [to] };
    return await walk({ objects, accepted, to, machine });
  } catch (error) {
    return unreadable(error);
  }
}

/** Null where the machine's key signed each of them and none merges. */
export async function verifyCommits(objects: Objects, commits: readonly Oid[], key: string): Promise<Reject | null> {
  const verifier = sshVerifier(key);
  try {
    for (let at = 0; at < commits.length; at += signaturesAtOnce) {
      const some = commits.slice(at, at + signaturesAtOnce);
      const checks = some.map(async (oid) => checkCommit(await objects.commit(oid), oid, verifier));
      const bad = (await Promise.all(checks)).find((verdict) => verdict !== null);
      if (bad !== undefined) return bad;
    }
    return null;
  } catch (error) {
    return unreadable(error);
  }
}

/** Whether a commit on the way shows the same machine: it may then be accepted though more follows. */
export async function showsMachine(objects: Objects, oid: Oid, machine: MachineRecord): Promise<boolean> {
  try {
    const { handle, mesh, key } = await readMachine(objects, await objects.commit(oid));
    return handle === machine.handle && mesh === machine.mesh && key === machine.key;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

async function walk(options: {
  objects: Objects;
  accepted: Oid;
  to: Oid;
  machine: MachineRecord;
}): Promise<Exclude<Verdict, { kind: 'advance' }> | Advance> {
  const { objects, accepted, to, machine } = options;
  const base = seqOf(await objects.commit(accepted)) ?? 0;
  let commit = await objects.commit(to);
  let expected = seqOf(commit) ?? 0;
  if (expected <= base) {
    if (await isAncestor(objects, to, accepted)) return { kind: 'behind' };
    // Older than all that is here of the branch: nothing tells it from one that was rewritten, and nothing moves.
    return (await reachesEdge(objects, accepted, expected)) ? { kind: 'behind' } : rewritten(accepted);
  }
  const commits: Oid[] = [];
  for (let at = to; at !== accepted; expected -= 1) {
    if (expected <= base || commits.length >= maxCommits) return rewritten(accepted);
    if (seqOf(commit) !== expected) return foreign(at, `its Mesh-Seq is not ${expected}`);
    commits.push(at);
    const [parent] = commit.parents;
    if (parent === undefined) return rewritten(accepted);
    at = parent;
    commit = await objects.commit(at);
  }
  if (expected !== base) return foreign(to, `its Mesh-Seq does not count the commits since ${base}`);
  return { kind: 'advance', machine, commits: commits.reverse() };
}

/** Whether the history of `tip` that is here ends above the counter `seq`. */
async function reachesEdge(objects: Objects, tip: Oid, seq: number): Promise<boolean> {
  const edges = await objects.edges();
  for (let at: Oid | undefined = tip, steps = 0; at !== undefined && steps <= maxCommits; steps++) {
    const commit: CommitObject = await objects.commit(at);
    if ((seqOf(commit) ?? 0) <= seq) return false;
    if (edges.has(at)) return true;
    at = commit.parents[0];
  }
  return false;
}

function unreadable(error: unknown): Reject {
  if (!(error instanceof MeshError)) throw error;
  return { kind: 'reject', problem: 'unreadable', message: `its branch cannot be read: ${error.message}` };
}

/** `machine.yaml` at a commit. @throws MeshError where there is none that can be read. */
export async function readMachine(objects: Objects, tip: CommitObject): Promise<MachineRecord> {
  const machine = await machineAt(objects, tip.tree);
  if (machine !== null) return machine;
  throw new MeshError('protocol_error', 'it has no machine.yaml');
}

function checkIdentity(
  machine: MachineRecord,
  { handle, mesh, pinned }: { handle: Handle; mesh: Ulid; pinned: string | null },
): Reject | null {
  const reject = (problem: RejectKind, message: string): Reject => ({ kind: 'reject', problem, message });
  if (machine.handle !== handle) return reject('wrong_identity', `its machine.yaml names ${machine.handle}`);
  if (machine.mesh !== mesh) return reject('wrong_identity', 'its machine.yaml belongs to another mesh');
  if (pinned !== null && machine.key !== pinned) {
    return reject('wrong_key', 'its key is not the one that was pinned here when it was first seen');
  }
  return null;
}

async function checkCommit(commit: CommitObject, oid: Oid, verifier: SshVerifier): Promise<Reject | null> {
  if (commit.parents.length > 1) return foreign(oid, 'it has more than one parent');
  if (commit.gpgsig === null) {
    return { kind: 'reject', problem: 'unsigned', message: `commit ${oid.slice(0, 10)} is not signed` };
  }
  if (!(await verifier({ armoured: commit.gpgsig, data: commit.signedBytes }))) {
    return { kind: 'reject', problem: 'wrong_key', message: `commit ${oid.slice(0, 10)} is not signed by its key` };
  }
  return null;
}

const foreign = (oid: Oid, why: string): Reject => ({
  kind: 'reject',
  problem: 'foreign_commit',
  message: `commit ${oid.slice(0, 10)} is not its machine's: ${why}`,
});

const rewritten = (accepted: Oid): Reject => ({
  kind: 'reject',
  problem: 'rewritten',
  message: `its branch was rewritten: it no longer goes on from ${accepted.slice(0, 10)}, which was accepted here`,
});
