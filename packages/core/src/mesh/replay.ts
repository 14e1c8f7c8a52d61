import { decodeCommit } from '../domain/git-object.js';
import type { CommitObject, ObjectType, TreeEntry } from '../domain/git-object.js';
import { formatCommitMessage, parseCommitMessage } from '../domain/commit-message.js';
import type { ParsedCommitMessage } from '../domain/commit-message.js';
import { decodeTree } from '../domain/git-tree.js';
import type { EpochMillis, Oid, Ulid } from '../domain/ids.js';
import { mergeFile } from '../domain/merge-file.js';
import type { FileVersions } from '../domain/merge-file.js';
import { diffTree, editTree, lookupPath } from '../domain/tree-edit.js';
import type { ReadTree } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import { commitDate } from '../store/commit.js';
import { hashObject } from '../store/object-id.js';
import { signedCommit } from '../store/signed-commit.js';
import type { Store } from '../store/store.js';
import { maxRecordBytes } from './branches.js';

export interface Replayed {
  tip: Oid;
  /** Own messages that stand in another commit now, with its `Mesh-Seq`. */
  moved: { id: Ulid; seq: number }[];
}

/**
 * Makes the given commits of the own branch (oldest first, each the parent of the next) anew on top of `onto`: what each
 * did to its files is done to those of `onto`, and what both changed is merged by what the file is. Author and time of
 * writing stay; the counters go on. A commit that changes nothing any more is left out. Moves no ref.
 */
export async function replayCommits(
  store: Store,
  { commits, onto, now }: { commits: readonly Oid[]; onto: Oid; now: EpochMillis },
): Promise<Replayed> {
  const replay = new Replay(store, await tipOf(store, onto), now);
  for (const oid of commits) await replay.add(oid);
  return replay.write();
}

interface Tip {
  oid: Oid;
  tree: Oid;
  seq: number;
  journal: number;
  at: EpochMillis;
}

async function tipOf(store: Store, oid: Oid): Promise<Tip> {
  const commit = await store.objects.commit(oid);
  const { seq, journal } = saidBy(oid, commit);
  return { oid, tree: commit.tree, seq, journal, at: commit.committer.at };
}

class Replay {
  readonly #store: Store;
  readonly #now: EpochMillis;
  readonly #made: { type: ObjectType; data: Uint8Array }[] = [];
  /** Trees and blobs that are made and not written yet. */
  readonly #trees = new Map<Oid, readonly TreeEntry[]>();
  readonly #blobs = new Map<Oid, Uint8Array>();
  readonly #moved: Replayed['moved'] = [];
  #tip: Tip;

  constructor(store: Store, tip: Tip, now: EpochMillis) {
    this.#store = store;
    this.#tip = tip;
    this.#now = now;
  }

  async add(oid: Oid): Promise<void> {
    const commit = await this.#store.objects.commit(oid);
    const said = saidBy(oid, commit);
    const edits = await this.#edits(commit, said);
    const edited = await editTree({ root: this.#tip.tree, readTree: this.#readTree, edits, hash: hashObject });
    if (edited.root === this.#tip.tree) return;
    for (const { oid: tree, data } of edited.trees) {
      this.#trees.set(tree, decodeTree(data));
      this.#made.push({ type: 'tree', data });
    }
    const seq = this.#tip.seq + 1;
    const data = this.#encode(commit, said, { tree: edited.root, seq });
    this.#made.push({ type: 'commit', data });
    this.#tip = {
      oid: hashObject('commit', data),
      tree: edited.root,
      seq,
      journal: Math.max(this.#tip.journal, said.journal),
      at: decodeCommit(data).committer.at,
    };
    if (said.event === 'send') for (const id of said.messages) this.#moved.push({ id, seq });
  }

  async write(): Promise<Replayed> {
    if (this.#made.length > 0) await this.#store.objects.write(this.#made);
    return { tip: this.#tip.oid, moved: this.#moved };
  }

  /** Bound, since it is given away. */
  readonly #readTree: ReadTree = async (oid) => this.#trees.get(oid) ?? (await this.#store.objects.tree(oid));

  async #edits(commit: CommitObject, { event }: ParsedCommitMessage): Promise<Map<string, { blob: Oid } | null>> {
    const [parent] = commit.parents;
    const from = parent === undefined ? null : (await this.#store.objects.commit(parent)).tree;
    const edits = new Map<string, { blob: Oid } | null>();
    for await (const { path, before, after } of diffTree({ from, to: commit.tree, readTree: this.#readTree })) {
      const there = (await lookupPath({ root: this.#tip.tree, readTree: this.#readTree, path }))?.oid ?? null;
      if (there === after) continue;
      // Nobody else changed it: what was done to it is done again.
      if (there === before) edits.set(path, after === null ? null : { blob: after });
      else edits.set(path, await this.#merge({ path, event }, { after, there }));
    }
    return edits;
  }

  async #merge(
    what: { path: string; event: ParsedCommitMessage['event'] },
    oids: Record<keyof FileVersions, Oid | null>,
  ): Promise<{ blob: Oid } | null> {
    const merged = mergeFile(what, { after: await this.#read(oids.after), there: await this.#read(oids.there) });
    if (merged === null) return null;
    const oid = hashObject('blob', merged);
    if (oid !== oids.after && oid !== oids.there) {
      this.#blobs.set(oid, merged);
      this.#made.push({ type: 'blob', data: merged });
    }
    return { blob: oid };
  }

  async #read(oid: Oid | null): Promise<Uint8Array | null> {
    if (oid === null) return null;
    return this.#blobs.get(oid) ?? (await this.#store.objects.blob(oid, maxRecordBytes));
  }

  #encode(commit: CommitObject, said: ParsedCommitMessage, made: { tree: Oid; seq: number }): Uint8Array {
    const { subject, ...event } = said;
    const summary = subject.startsWith(`${said.event} `) ? subject.slice(said.event.length + 1) : '';
    return signedCommit(this.#store.signer, {
      tree: made.tree,
      parents: [this.#tip.oid],
      author: commit.author,
      committer: { ...commit.committer, at: commitDate(this.#now, this.#tip.at) },
      message: formatCommitMessage({
        ...event,
        summary,
        seq: made.seq,
        journal: Math.max(this.#tip.journal, said.journal),
      }),
    });
  }
}

function saidBy(oid: Oid, commit: CommitObject): ParsedCommitMessage {
  const said = parseCommitMessage(commit.message);
  if (said !== null) return said;
  throw new MeshError(
    'store_damaged',
    `commit ${oid} on this machine's branch has no Mesh-Seq: git-mesh did not make it`,
  );
}
