import {
  MeshError,
  SigningKeys,
  brokenLink,
  isAncestor,
  isWeakKey,
  keysOf,
  machineAt,
  maxCommits,
  parseCommitMessage,
  seqOf,
  sshVerifier,
  verifyBytes,
} from '@git-mesh/core';
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

/** A commit and the key that must have signed it. */
export interface Signed {
  oid: Oid;
  key: string;
}

/** What is left to check before a branch may move. */
export interface Advance {
  kind: 'advance';
  machine: MachineRecord;
  /** The commits to check, oldest first and the new tip last: only that one at first sight, whose signature vouches for all. */
  commits: readonly Signed[];
}

type Plan = Exclude<Verdict, { kind: 'advance' }> | Advance;

/**
 * Decides whether a branch may move to `to`: along single parents from `accepted`, every commit counted by `Mesh-Seq` and
 * signed by the key that is in force there: the pinned one, and after each `rotate-key` commit the next of the chain that
 * machine.yaml proves. At first sight (nothing accepted) the tip and the chain alone are checked: its signature vouches for
 * all that it shows.
 */
export async function verifyAdvance(options: AdvanceOptions): Promise<Verdict> {
  const plan = await planAdvance(options);
  if (plan.kind !== 'advance') return plan;
  return (await verifyCommits(options.objects, plan.commits)) ?? plan;
}

/** All of {@link verifyAdvance} but the commits' signatures, which are what takes time. */
export async function planAdvance(options: AdvanceOptions): Promise<Plan> {
  const { objects, handle, mesh, accepted, to, pinned } = options;
  try {
    const tip = await objects.commit(to);
    const machine = await readMachine(objects, tip);
    const identity = checkIdentity(machine, { handle, mesh });
    if (identity !== null) return identity;
    if (seqOf(tip) === null) return foreign(to, 'it has no Mesh-Seq');
    const before = accepted === null ? null : await keyAt(objects, accepted);
    const chain = keysOf(machine);
    if (chain.some((key) => isWeakKey(key))) return wrongKey(weak);
    if ([pinned, before].some((key) => key !== null && !chain.includes(key))) {
      // A remote that has not the rotation yet shows an earlier key, and nothing is wrong.
      if (accepted !== null && (await isBehind(objects, { accepted, to }))) return { kind: 'behind' };
      return wrongKey('its key is not the one that was pinned here when it was first seen, nor signed in by it');
    }
    const broken = brokenLink(machine, verifyBytes);
    if (broken !== null) return wrongKey(broken);
    if (accepted === null) return await firstSight(objects, { to, tip, machine });
    return await walk({ objects, accepted, to, machine, before });
  } catch (error) {
    return unreadable(error);
  }
}

/** Null where each is signed by its key and none merges. */
export async function verifyCommits(objects: Objects, commits: readonly Signed[]): Promise<Reject | null> {
  const verifiers = new Map<string, SshVerifier>();
  const verifierOf = (key: string): SshVerifier => {
    const verifier = verifiers.get(key) ?? sshVerifier(key);
    verifiers.set(key, verifier);
    return verifier;
  };
  try {
    for (let at = 0; at < commits.length; at += signaturesAtOnce) {
      const some = commits.slice(at, at + signaturesAtOnce);
      const checks = some.map(async ({ oid, key }) => checkCommit(await objects.commit(oid), oid, verifierOf(key)));
      const bad = (await Promise.all(checks)).find((verdict) => verdict !== null);
      if (bad !== undefined) return bad;
    }
    return null;
  } catch (error) {
    return unreadable(error);
  }
}

/** Null where a machine's branch is in order at its tip by itself, as at first sight. */
export async function verifyTip(objects: Objects, to: Oid, machine: MachineRecord): Promise<Reject | null> {
  const broken = brokenLink(machine, verifyBytes);
  if (broken !== null) return wrongKey(broken);
  const plan = await firstSight(objects, { to, tip: await objects.commit(to), machine });
  return plan.kind === 'reject' ? plan : verifyCommits(objects, plan.commits);
}

/**
 * Whether a commit on the way shows the same machine with the keys that it has had by then: it may then be accepted though
 * more follows. `keys` are those, oldest first.
 */
export async function showsMachine(
  objects: Objects,
  oid: Oid,
  { machine, keys }: { machine: MachineRecord; keys: readonly string[] },
): Promise<boolean> {
  try {
    const shown = await readMachine(objects, await objects.commit(oid));
    return (
      shown.handle === machine.handle && shown.mesh === machine.mesh && keysOf(shown).join('\n') === keys.join('\n')
    );
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

/**
 * The last commit of a key is the `rotate-key` one. As a tip it is signed by a key that is over, so its parent must show
 * that the key was still in force: else whoever has an old key could add such a commit at any time.
 */
async function firstSight(
  objects: Objects,
  { to, tip, machine }: { to: Oid; tip: CommitObject; machine: MachineRecord },
): Promise<Advance | Reject> {
  const event = parseCommitMessage(tip.message)?.event;
  const key = new SigningKeys(keysOf(machine), machine.key).older(event);
  if (key === undefined) return tooManyRotations(to);
  const [parent] = tip.parents;
  if (event === 'rotate-key') {
    if (parent === undefined || !(await objects.has(parent))) {
      return wrongKey(
        'its newest commit changes its key, and the one before that is not here: the next one is accepted',
      );
    }
    if ((await keyAt(objects, parent)) !== key) return wrongKey(`commit ${short(to)} changes a key that is over`);
  }
  return { kind: 'advance', machine, commits: [{ oid: to, key }] };
}

async function walk(options: {
  objects: Objects;
  accepted: Oid;
  to: Oid;
  machine: MachineRecord;
  before: string | null;
}): Promise<Plan> {
  const { objects, accepted, to, machine, before } = options;
  const base = seqOf(await objects.commit(accepted)) ?? 0;
  let commit = await objects.commit(to);
  let expected = seqOf(commit) ?? 0;
  if (expected <= base) {
    return (await isBehind(objects, { accepted, to })) ? { kind: 'behind' } : rewritten(accepted);
  }
  const keys = new SigningKeys(keysOf(machine), machine.key);
  const commits: Signed[] = [];
  for (let at = to; at !== accepted; expected -= 1) {
    if (expected <= base || commits.length >= maxCommits) return rewritten(accepted);
    const said = parseCommitMessage(commit.message);
    if (said?.seq !== expected) return foreign(at, `its Mesh-Seq is not ${expected}`);
    const next = keys.current;
    const key = keys.older(said.event);
    if (key === undefined) return tooManyRotations(at);
    if (key !== next && (await keyAt(objects, at)) !== next) {
      return wrongKey(`commit ${short(at)} does not state the key that follows`);
    }
    commits.push({ oid: at, key });
    const [parent] = commit.parents;
    if (parent === undefined) return rewritten(accepted);
    at = parent;
    commit = await objects.commit(at);
  }
  if (expected !== base) return foreign(to, `its Mesh-Seq does not count the commits since ${base}`);
  if (before !== null && keys.current !== before) return wrongKey('its key changed without a commit that rotates it');
  return { kind: 'advance', machine, commits: commits.reverse() };
}

/** Whether `to` is older than what is accepted, and nothing is wrong with that. */
async function isBehind(objects: Objects, { accepted, to }: { accepted: Oid; to: Oid }): Promise<boolean> {
  const seq = seqOf(await objects.commit(to)) ?? 0;
  if (seq > (seqOf(await objects.commit(accepted)) ?? 0)) return false;
  // Older than all that is here of the branch: nothing tells it from one that was rewritten, and nothing moves.
  return (await isAncestor(objects, to, accepted)) || (await reachesEdge(objects, accepted, seq));
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

/** The key that a commit's machine.yaml states; null where that cannot be read. */
async function keyAt(objects: Objects, oid: Oid): Promise<string | null> {
  try {
    return (await readMachine(objects, await objects.commit(oid))).key;
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

function checkIdentity(machine: MachineRecord, { handle, mesh }: { handle: Handle; mesh: Ulid }): Reject | null {
  const reject = (problem: RejectKind, message: string): Reject => ({ kind: 'reject', problem, message });
  if (machine.handle !== handle) return reject('wrong_identity', `its machine.yaml names ${machine.handle}`);
  if (machine.mesh !== mesh) return reject('wrong_identity', 'its machine.yaml belongs to another mesh');
  return null;
}

async function checkCommit(commit: CommitObject, oid: Oid, verifier: SshVerifier): Promise<Reject | null> {
  if (commit.parents.length > 1) return foreign(oid, 'it has more than one parent');
  if (commit.gpgsig === null)
    return { kind: 'reject', problem: 'unsigned', message: `commit ${short(oid)} is not signed` };
  if (await verifier({ armoured: commit.gpgsig, data: commit.signedBytes })) return null;
  return wrongKey(`commit ${short(oid)} is not signed by its key`);
}

const short = (oid: Oid): string => oid.slice(0, 10);

const wrongKey = (message: string): Reject => ({ kind: 'reject', problem: 'wrong_key', message });

const weak =
  'its machine.yaml names a weak key, a point of small order: anybody can make signatures that pass by it, so nothing that it signs is believed';

const tooManyRotations = (oid: Oid): Reject =>
  wrongKey(`commit ${short(oid)} rotates a key that its machine.yaml does not name`);

const foreign = (oid: Oid, why: string): Reject => ({
  kind: 'reject',
  problem: 'foreign_commit',
  message: `commit ${short(oid)} is not its machine's: ${why}`,
});

const rewritten = (accepted: Oid): Reject => ({
  kind: 'reject',
  problem: 'rewritten',
  message: `its branch was rewritten: it no longer goes on from ${short(accepted)}, which was accepted here`,
});
