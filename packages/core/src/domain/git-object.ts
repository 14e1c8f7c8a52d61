import type { EpochMillis, Oid } from './ids.js';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface GitObject {
  type: ObjectType;
  data: Uint8Array;
}

export interface TreeEntry {
  /** As git writes it in a tree: `100644`, `40000`, `120000`… */
  mode: string;
  /** Raw name; a name that is not UTF-8 is refused when the tree is decoded. */
  name: string;
  oid: Oid;
}

export interface Signature {
  name: string;
  email: string;
  at: EpochMillis;
}

export interface CommitObject {
  tree: Oid;
  parents: Oid[];
  author: Signature;
  committer: Signature;
  /** The armoured SSH signature in the `gpgsig` header, without the continuation spaces; null where there is none. */
  gpgsig: string | null;
  message: string;
  /** The bytes that are signed: the commit without its `gpgsig` header. */
  signedBytes: Uint8Array;
}

export { decodeTree, encodeTree, maxTreeBytes } from './git-tree.js';
export { decodeCommit, encodeCommit } from './git-commit.js';
export type { CommitParts } from './git-commit.js';
