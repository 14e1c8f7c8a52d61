import {
  MeshError,
  decodeMachine,
  isAncestor,
  lookupPath,
  machinePath,
  maxCommits,
  seqOf,
  verifySshSignature,
} from '@git-mesh/core';
import type { CommitObject, Handle, MachineRecord, Objects, Oid, Ulid } from '@git-mesh/core';

/** What a branch's new tip came to. */
export type Verdict =
  | { kind: 'advance'; machine: MachineRecord }
  /** The remote has an earlier commit of what is accepted here: nothing is wrong, it is behind. */
  | { kind: 'behind' }
  | { kind: 'reject'; problem: RejectKind; message: string };

export type RejectKind = 'unreadable' | 'wrong_identity' | 'unsigned' | 'wrong_key' | 'rewritten' | 'foreign_commit';

const maxMachineBytes = 32 * 1024;

/**
 * Decides whether a branch may move to `to`: along single parents from `accepted`, every commit signed by the pinned
 * key and counted by `Mesh-Seq`. At first sight (nothing accepted) the tip alone is checked: its signature vouches for
 * all that it shows.
 */
export async function verifyAdvance(options: {
  objects: Objects;
  handle: Handle;
  mesh: Ulid;
  accepted: Oid | null;
  to: Oid;
  pinned: string | null;
}): Promise<Verdict> {
  const { objects, handle, mesh, accepted, to, pinned } = options;
  try {
    const tip = await objects.commit(to);
    const machine = await readMachine(objects, tip);
    const identity = checkIdentity(machine, { handle, mesh, pinned });
    if (identity !== null) return identity;
    const key = pinned ?? machine.key;
    if (accepted === null) return checkFirst(tip, to, key) ?? { kind: 'advance', machine };
    return await walk({ objects, accepted, to, key, machine });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { kind: 'reject', problem: 'unreadable', message: `its branch cannot be read: ${error.message}` };
  }
}

async function walk(options: {
  objects: Objects;
  accepted: Oid;
  to: Oid;
  key: string;
  machine: MachineRecord;
}): Promise<Verdict> {
  const { objects, accepted, to, key, machine } = options;
  const base = seqOf(await objects.commit(accepted)) ?? 0;
  let at = to;
  let commit = await objects.commit(at);
  let expected = seqOf(commit);
  if (expected === null) return foreign(at, 'it has no Mesh-Seq');
  if (expected <= base) {
    return (await isAncestor(objects, to, accepted)) ? { kind: 'behind' } : rewritten(accepted);
  }
  for (let steps = 0; at !== accepted; steps++) {
    const bad = checkCommit(commit, at, key);
    if (bad !== null) return bad;
    if (seqOf(commit) !== expected) return foreign(at, `its Mesh-Seq is not ${expected}`);
    const [parent] = commit.parents;
    if (parent === undefined || steps >= maxCommits || expected <= base) return rewritten(accepted);
    at = parent;
    commit = await objects.commit(at);
    expected -= 1;
  }
  if (expected !== base) return foreign(to, `its Mesh-Seq does not count the commits since ${base}`);
  return { kind: 'advance', machine };
}

async function readMachine(objects: Objects, tip: CommitObject): Promise<MachineRecord> {
  const entry = await lookupPath({ root: tip.tree, readTree: (oid) => objects.tree(oid), path: machinePath });
  if (entry?.mode !== '100644') throw new MeshError('protocol_error', 'it has no machine.yaml');
  return decodeMachine(await objects.blob(entry.oid, maxMachineBytes));
}

function checkIdentity(
  machine: MachineRecord,
  { handle, mesh, pinned }: { handle: Handle; mesh: Ulid; pinned: string | null },
): Verdict | null {
  const reject = (problem: RejectKind, message: string): Verdict => ({ kind: 'reject', problem, message });
  if (machine.handle !== handle) return reject('wrong_identity', `its machine.yaml names ${machine.handle}`);
  if (machine.mesh !== mesh) return reject('wrong_identity', 'its machine.yaml belongs to another mesh');
  if (pinned !== null && machine.key !== pinned) {
    return reject('wrong_key', 'its key is not the one that was pinned here when it was first seen');
  }
  return null;
}

/** A branch that begins without its counter could never go on. */
function checkFirst(tip: CommitObject, oid: Oid, key: string): Verdict | null {
  return checkCommit(tip, oid, key) ?? (seqOf(tip) === null ? foreign(oid, 'it has no Mesh-Seq') : null);
}

function checkCommit(commit: CommitObject, oid: Oid, key: string): Verdict | null {
  if (commit.parents.length > 1) return foreign(oid, 'it has more than one parent');
  if (commit.gpgsig === null) {
    return { kind: 'reject', problem: 'unsigned', message: `commit ${oid.slice(0, 10)} is not signed` };
  }
  if (!verifySshSignature({ armoured: commit.gpgsig, data: commit.signedBytes, publicKey: key })) {
    return { kind: 'reject', problem: 'wrong_key', message: `commit ${oid.slice(0, 10)} is not signed by its key` };
  }
  return null;
}

const foreign = (oid: Oid, why: string): Verdict => ({
  kind: 'reject',
  problem: 'foreign_commit',
  message: `commit ${oid.slice(0, 10)} is not its machine's: ${why}`,
});

const rewritten = (accepted: Oid): Verdict => ({
  kind: 'reject',
  problem: 'rewritten',
  message: `its branch was rewritten: it no longer goes on from ${accepted.slice(0, 10)}, which was accepted here`,
});
