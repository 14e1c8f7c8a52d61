import { MeshError } from '../errors.js';
import type { TreeEntry } from './git-object.js';
import { compareUtf8, isFolder } from './git-tree.js';
import type { Oid } from './ids.js';

/** Gives a tree's entries in git's order. */
export type ReadTree = (oid: Oid) => Promise<readonly TreeEntry[]>;

/** The tree without entries, which git knows without storing it. */
export const emptyTree: Oid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid;

/** The empty tree need not be stored anywhere. */
export async function readFolder(oid: Oid | null, readTree: ReadTree): Promise<readonly TreeEntry[]> {
  return oid === null || oid === emptyTree ? [] : readTree(oid);
}

/** What stands at `path` (a slash at its end does not matter; `''` is the root); null where nothing does. */
export async function lookupPath(options: {
  root: Oid | null;
  readTree: ReadTree;
  path: string;
}): Promise<{ mode: string; oid: Oid } | null> {
  let here: { mode: string; oid: Oid } | null = options.root === null ? null : { mode: '40000', oid: options.root };
  for (const name of partsOf(options.path)) {
    if (here === null || !isFolder(here)) return null;
    const entries: readonly TreeEntry[] = await readFolder(here.oid, options.readTree);
    here = entries.find((entry) => entry.name === name) ?? null;
  }
  return here;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

/** Bounds for what others made: a tree of 20 KB can stand for more paths than there are atoms. */
export interface WalkLimits {
  /** More than this many entries looked at is a `protocol_error`. */
  maxEntries?: number;
  /** Folders deeper below the root than this are given as they are (mode `40000`) and not looked into. */
  maxDepth?: number;
  /** A folder it is false for is given as it is and not looked into. */
  descend?: (path: string) => boolean;
}

const defaults = { maxEntries: 1_000_000, maxDepth: 8, descend: (): boolean => true };

export interface TreeFile {
  path: string;
  mode: string;
  oid: Oid;
}

/**
 * Everything below `prefix` (or the one file there) in the order of paths: each file with its mode, so that callers can
 * refuse what is not `100644`.
 * @throws MeshError `protocol_error` past `maxEntries`.
 */
export async function* walkTree(
  options: { tree: Oid | null; readTree: ReadTree; prefix?: string } & WalkLimits,
): AsyncGenerator<TreeFile> {
  const { tree, ...rest } = options;
  for await (const { path, mode, after } of diffTree({ ...rest, from: null, to: tree })) {
    if (after !== null) yield { path, mode, oid: after };
  }
}

export interface TreeChange {
  path: string;
  before: Oid | null;
  after: Oid | null;
  /** Of `after`; of `before` where that is all there is. */
  mode: string;
}

/**
 * What differs below `prefix` (a folder with or without its slash, a file, or nothing for all) between two trees. Only
 * folders that differ are read. A change of mode alone counts; a file that became a folder is its removal and additions.
 * @throws MeshError `protocol_error` past `maxEntries`.
 */
export async function* diffTree(
  options: { from: Oid | null; to: Oid | null; readTree: ReadTree; prefix?: string } & WalkLimits,
): AsyncGenerator<TreeChange> {
  const path = partsOf(options.prefix ?? '').join('/');
  const { readTree } = options;
  const [before, after] = await Promise.all(
    [options.from, options.to].map((root) => lookupPath({ root, readTree, path })),
  );
  const walk: Walk = {
    readTree,
    maxEntries: options.maxEntries ?? defaults.maxEntries,
    maxDepth: options.maxDepth ?? defaults.maxDepth,
    descend: options.descend ?? defaults.descend,
    seen: 0,
  };
  yield* diffEntry(walk, path, before ?? null, after ?? null);
}

interface Walk {
  readonly readTree: ReadTree;
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly descend: (path: string) => boolean;
  seen: number;
}

type Node = Pick<TreeEntry, 'mode' | 'oid'> | null;

async function* diffEntry(walk: Walk, path: string, before: Node, after: Node): AsyncGenerator<TreeChange> {
  if (before?.oid === after?.oid && before?.mode === after?.mode) return;
  const wasFolder = before !== null && isFolder(before);
  const isNowFolder = after !== null && isFolder(after);
  // Asked of folders alone: nearly all entries are files.
  const open = (wasFolder || isNowFolder) && partsOf(path).length <= walk.maxDepth && walk.descend(path);
  const beforeFolder = open && wasFolder;
  const afterFolder = open && isNowFolder;
  const left = beforeFolder ? null : before;
  const right = afterFolder ? null : after;
  if (left !== null || right !== null) {
    yield { path, before: left?.oid ?? null, after: right?.oid ?? null, mode: (right ?? left)?.mode ?? '' };
  }
  if (beforeFolder || afterFolder) {
    const [old, fresh] = await Promise.all([
      readFolder(beforeFolder ? before.oid : null, walk.readTree),
      readFolder(afterFolder ? after.oid : null, walk.readTree),
    ]);
    yield* diffFolder(walk, path, old, fresh);
  }
}

async function* diffFolder(
  walk: Walk,
  path: string,
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
): AsyncGenerator<TreeChange> {
  const { first, last } = sameEnds(before, after);
  walk.seen += first + last;
  const olds = new Map(before.slice(first, before.length - last).map((entry) => [entry.name, entry]));
  const news = new Map(after.slice(first, after.length - last).map((entry) => [entry.name, entry]));
  const names = [...new Set([...olds.keys(), ...news.keys()])].sort(compareUtf8);
  for (const name of names) {
    walk.seen += 1;
    if (walk.seen > walk.maxEntries) {
      throw new MeshError('protocol_error', `a tree has more than ${walk.maxEntries} entries to look at`);
    }
    yield* diffEntry(walk, path === '' ? name : `${path}/${name}`, olds.get(name) ?? null, news.get(name) ?? null);
  }
}

/** How many entries at the beginning, and then at the end, are the same: of a folder that one was put into, all but that. */
function sameEnds(before: readonly TreeEntry[], after: readonly TreeEntry[]): { first: number; last: number } {
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && isSame(before[first], after[first])) first += 1;
  let last = 0;
  while (last < most - first && isSame(before.at(-1 - last), after.at(-1 - last))) last += 1;
  return { first, last };
}

function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.name === b?.name && a?.mode === b?.mode;
}
