import { decodeCommit } from '../domain/git-object.js';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { Key } from './dense-sources.js';

/** What the order of a dense pack needs to know of a commit. */
export interface OrderedCommit {
  key: Key;
  tree: Key;
  parents: Key[];
  /** Who wrote it: the commits of one machine have most in common. */
  by: string;
  at: number;
}

/** Null for an object that is none, or is one that git-mesh does not read. */
export function orderedCommit(key: Key, { type, data }: GitObject): OrderedCommit | null {
  if (type !== 'commit') return null;
  try {
    const { tree, parents, committer } = decodeCommit(data);
    return { key, tree: keyOf(tree), parents: parents.map(keyOf), by: committer.name, at: committer.at };
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

const keyOf = (oid: Oid): Key => Buffer.from(oid, 'hex').toString('latin1');

/** The newest first, a commit before its parents where their clocks agree, whatever order they come in. */
export function newestFirst(commits: readonly OrderedCommit[]): OrderedCommit[] {
  const byKey = new Map(commits.map((commit) => [commit.key, commit]));
  const parents = new Set(commits.flatMap((commit) => commit.parents));
  const walked = new Set<OrderedCommit>();
  for (const head of commits.filter(({ key }) => !parents.has(key))) {
    const waiting = [head];
    for (let commit = waiting.pop(); commit !== undefined; commit = waiting.pop()) {
      if (walked.has(commit)) continue;
      walked.add(commit);
      for (const parent of commit.parents) {
        const known = byKey.get(parent);
        if (known !== undefined) waiting.push(known);
      }
    }
  }
  // Sorting keeps the order of those of the same second.
  return [...walked].sort((a, b) => b.at - a.at);
}
