import type { CommitObject, Signature } from '../domain/git-object.js';
import { formatCommitMessage, parseCommitMessage } from '../domain/commit-message.js';
import type { AgentId, EpochMillis, Handle, Oid } from '../domain/ids.js';
import { clockStepMs } from '../domain/skew.js';
import type { CommitEvent } from '../domain/records.js';
import { editTree } from '../domain/tree-edit.js';
import type { TreeEdits } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import { hashObject } from './object-id.js';
import type { StagedObject } from './ports.js';
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
 * caller holds the store lock.
 * @throws MeshError `conflict` when someone moved the branch in between; `disk_full`, `read_only`: the branch is where it was.
 */
export async function commitOnBranch(store: Store, change: BranchCommit): Promise<BranchTip> {
  const run = await CommitRun.begin(store);
  const made = await run.commit(change);
  await run.publish();
  return made;
}

/** Where a run stood, to go back to. */
export interface RunMark {
  readonly tip: Oid | null;
  readonly objects: number;
}

/**
 * Commits on the machine's own branch that become durable together: one pack, one move of the branch. Until
 * {@link CommitRun.publish} nobody else sees any of them, and this process reads their objects as if they were there. The
 * caller holds the store lock from begin to end.
 */
export class CommitRun {
  readonly #store: Store;
  readonly #from: Oid | null;
  #tip: Oid | null;
  #objects: StagedObject[] = [];

  private constructor(store: Store, from: Oid | null) {
    this.#store = store;
    this.#from = from;
    this.#tip = from;
  }

  static async begin(store: Store): Promise<CommitRun> {
    return new CommitRun(store, await store.refs.read(store.branch));
  }

  mark(): RunMark {
    return { tip: this.#tip, objects: this.#objects.length };
  }

  /** Takes back the commits that were made since. */
  rewind(mark: RunMark): void {
    this.#tip = mark.tip;
    this.#store.objects.unstage(this.#objects.splice(mark.objects));
    // An object that both sides of the mark have stays.
    this.#store.objects.stage(this.#objects);
  }

  /**
   * Adds a commit. It is dated by the clock; a small step back is evened out, a large one is not: the order of commits is
   * `Mesh-Seq`'s to tell, and a clock that once was ahead must not date for ever what comes after.
   */
  async commit(change: BranchCommit): Promise<BranchTip> {
    const store = this.#store;
    const tip = this.#tip;
    const parent = tip === null ? null : await store.objects.commit(tip);
    const previousSeq = parent === null ? 0 : seqOf(store.branch, parent);
    const blobs = [...change.edits.values()]
      .filter((data) => data !== null)
      .map((data) => ({ type: 'blob' as const, data, oid: hashObject('blob', data) }));
    const edited = await editTree({
      root: parent?.tree ?? null,
      readTree: (oid) => store.objects.tree(oid),
      edits: treeEdits(change.edits),
      hash: hashObject,
    });
    if (change.allowEmpty !== true && edited.root === parent?.tree) return { commit: null, seq: previousSeq, tip };
    const seq = previousSeq + 1;
    const journal = await journalNumber(store, change);
    const data = encode(store, { change, seq, tip, parent, tree: edited.root, journal });
    const commit = { type: 'commit' as const, data, oid: hashObject('commit', data) };
    const made = [...blobs, ...edited.trees.map((tree) => ({ type: 'tree' as const, ...tree })), commit];
    store.objects.stage(made);
    this.#objects.push(...made);
    this.#tip = commit.oid;
    return { commit: commit.oid, seq, tip: commit.oid };
  }

  /**
   * @throws MeshError `conflict` when someone moved the branch in between; `disk_full`, `read_only`: the branch is where it
   * was, and none of the commits was made.
   */
  async publish(): Promise<void> {
    const { objects, refs, branch } = this.#store;
    if (this.#tip === this.#from) return;
    try {
      // Do not reorder: the ref is moved last.
      await objects.write(this.#objects);
      await refs.update(branch, { expected: this.#from, next: this.#tip });
    } finally {
      objects.unstage(this.#objects);
    }
    await this.#store.consolidate();
  }

  /** Nothing was made. */
  discard(): void {
    this.#store.objects.unstage(this.#objects);
  }
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
