import type { CommitObject, Signature } from '../domain/git-object.js';
import { formatCommitMessage, parseCommitMessage } from '../domain/commit-message.js';
import type { AgentId, EpochMillis, Handle, Oid } from '../domain/ids.js';
import { clockStepMs } from '../domain/skew.js';
import type { CommitEvent } from '../domain/records.js';
import { editTree } from '../domain/tree-edit.js';
import type { TreeEdits } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import { hashObject } from './object-id.js';
import type { WrittenObject } from './ports.js';
import { signedCommit } from './signed-commit.js';
import type { Store } from './store.js';

export interface BranchCommit {
  /** The files' new contents by path; null removes one. */
  edits: ReadonlyMap<string, Uint8Array | null>;
  /** `journal` is the highest message number given out, this commit's included; the journal's own when left out. */
  event: Omit<CommitEvent, 'seq' | 'journal'> & { journal?: number };
  /** Null for the machine itself; `event.agent` when left out. */
  author?: AgentId | null;
  at: EpochMillis;
  /** Commit even when no file changes. */
  allowEmpty?: boolean;
}

export interface BranchTip {
  /** The new commit; null when nothing changed. */
  commit: Oid | null;
  /** Of the tip, which is `commit` unless nothing changed. */
  seq: number;
  tip: Oid | null;
}

/**
 * Puts one commit on the machine's own branch: all its objects first, the ref last, durable once this resolves. The
 * caller holds the store lock. A commit is dated by the clock; a small step back is evened out, a large one is not: the
 * order of commits is `Mesh-Seq`'s to tell, and a clock that once was ahead must not date for ever what comes after.
 * @throws MeshError `conflict` when someone moved the branch in between; `disk_full`, `read_only`: the branch is where it was.
 */
export async function commitOnBranch(store: Store, change: BranchCommit): Promise<BranchTip> {
  const tip = await store.refs.read(store.branch);
  const parent = tip === null ? null : await store.objects.commit(tip);
  const previousSeq = parent === null ? 0 : seqOf(store.branch, parent);
  const blobs = [...change.edits.values()]
    .filter((data) => data !== null)
    .map((data) => ({ type: 'blob' as const, data }));
  const edited = await editTree({
    root: parent?.tree ?? null,
    readTree: (oid) => store.objects.tree(oid),
    edits: treeEdits(change.edits),
    hash: hashObject,
  });
  if (change.allowEmpty !== true && edited.root === parent?.tree) return { commit: null, seq: previousSeq, tip };
  const seq = previousSeq + 1;
  const commit = encode(store, {
    change,
    seq,
    tip,
    parent,
    tree: edited.root,
    journal: await journalNumber(store, change),
  });
  const trees = edited.trees.map((tree) => ({ type: 'tree' as const, ...tree }));
  // Do not reorder: the ref is moved last.
  const objects: WrittenObject[] = [...blobs, ...trees, { type: 'commit', data: commit }];
  const oid = (await store.objects.write(objects)).at(-1);
  if (oid === undefined) throw new Error('a commit was written without an id');
  await store.refs.update(store.branch, { expected: tip, next: oid });
  await store.consolidate();
  return { commit: oid, seq, tip: oid };
}

/** When a commit made at `now` says it was made: by the clock, but for a small step back. */
export function commitDate(now: EpochMillis, parentAt: EpochMillis): EpochMillis {
  return parentAt - now > clockStepMs ? now : Math.max(now, parentAt);
}

function treeEdits(edits: BranchCommit['edits']): TreeEdits {
  return new Map(
    [...edits].map(([path, data]) => [path, data === null ? null : { blob: hashObject('blob', data) }] as const),
  );
}

async function journalNumber(store: Store, { event }: BranchCommit): Promise<number> {
  const { highest } = await store.journal.view();
  return Math.max(highest, event.journal ?? 0);
}

function encode(
  store: Store,
  made: {
    change: BranchCommit;
    seq: number;
    tip: Oid | null;
    parent: CommitObject | null;
    tree: Oid;
    journal: number;
  },
): Uint8Array {
  const { change, parent, tip } = made;
  const { handle } = store.config;
  const at = commitDate(change.at, parent?.committer.at ?? 0);
  const author = change.author === undefined ? change.event.agent : change.author;
  return signedCommit(store.signer, {
    tree: made.tree,
    parents: tip === null ? [] : [tip],
    author: authorOf(author, handle, at),
    committer: machinePerson(handle, at),
    message: formatCommitMessage({ ...change.event, seq: made.seq, journal: made.journal }),
  });
}

function authorOf(agent: AgentId | null, handle: Handle, at: EpochMillis): Signature {
  return agent === null ? machinePerson(handle, at) : { name: agent, email: `${agent}@${handle}.mesh.invalid`, at };
}

function machinePerson(handle: Handle, at: EpochMillis): Signature {
  return { name: handle, email: `${handle}@mesh.invalid`, at };
}

function seqOf(branch: string, tip: CommitObject): number {
  const seq = parseCommitMessage(tip.message)?.seq;
  if (seq !== undefined) return seq;
  throw new MeshError(
    'store_damaged',
    `the newest commit of ${branch} has no Mesh-Seq: expected one that git-mesh made; put the branch back with git update-ref to the last commit that has one (git log ${branch})`,
  );
}
