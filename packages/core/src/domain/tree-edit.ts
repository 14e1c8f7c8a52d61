import { MeshError } from '../errors.js';
import type { ObjectType, TreeEntry } from './git-object.js';
import { encodeTree, fileMode, folderMode, gitOrder, isFolder } from './git-tree.js';
import type { Oid } from './ids.js';
import { emptyTree, readFolder } from './tree-read.js';
import type { ReadTree } from './tree-read.js';

export { diffTree, emptyTree, lookupPath, walkTree } from './tree-read.js';
export type { ReadTree, TreeChange, TreeFile, WalkLimits } from './tree-read.js';

/** Computes a git object's id. */
export type HashObject = (type: ObjectType, data: Uint8Array) => Oid;

export interface EditedTree {
  root: Oid;
  /** The trees that are new, innermost first; the root is among them unless nothing changed. */
  trees: NewTree[];
}

export interface NewTree {
  oid: Oid;
  data: Uint8Array;
  /** What `data` says, in git's order. */
  entries: readonly TreeEntry[];
}

/** A path's new blob (as a `100644` file), or null to remove it. */
export type TreeEdits = ReadonlyMap<string, { blob: Oid } | null>;

/**
 * `root` with files put in and taken out, as `git update-index` and `write-tree` would. Folders that are left empty
 * vanish, removing what is not there does nothing, and subtrees without an edit are never read. An empty root is the
 * empty tree.
 * @throws MeshError `invalid_argument` for a path that is empty, absolute or has `.`, `..` or empty parts, and
 * `conflict` where a file would stand where a folder is, or the other way round.
 */
export async function editTree(options: {
  root: Oid | null;
  readTree: ReadTree;
  edits: TreeEdits;
  hash: HashObject;
}): Promise<EditedTree> {
  const plan: Plan = { files: new Map(), folders: new Map() };
  for (const [path, edit] of options.edits) addToPlan(plan, path, edit);
  const trees: EditedTree['trees'] = [];
  const root = await editFolder({ ...options, trees }, options.root, plan, '');
  if (root !== null) return { root, trees };
  const data = encodeTree([]);
  if (options.root !== emptyTree) trees.push({ oid: options.hash('tree', data), data, entries: [] });
  return { root: emptyTree, trees };
}

interface Plan {
  readonly files: Map<string, { blob: Oid } | null>;
  readonly folders: Map<string, Plan>;
}

function addToPlan(plan: Plan, path: string, edit: { blob: Oid } | null): void {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if ([...parts, name].some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
    throw new MeshError('invalid_argument', `"${path}" is no path of a tree`);
  }
  let here = plan;
  for (const part of parts) {
    const next: Plan = here.folders.get(part) ?? { files: new Map(), folders: new Map() };
    here.folders.set(part, next);
    here = next;
  }
  here.files.set(name, edit);
}

interface Edit {
  readTree: ReadTree;
  hash: HashObject;
  trees: EditedTree['trees'];
}

/** The folder's new id, or null where nothing is left in it. */
async function editFolder(edit: Edit, oid: Oid | null, plan: Plan, path: string): Promise<Oid | null> {
  const entries = new Entries(await readFolder(oid, edit.readTree));
  let changed = false;
  for (const [name, change] of plan.files) changed = putFile(entries, name, change, path) || changed;
  for (const [name, inner] of plan.folders) changed = (await putFolder(edit, entries, name, inner, path)) || changed;
  if (entries.list.length === 0) return null;
  if (!changed && oid !== null) return oid;
  const data = encodeTree(entries.list);
  const root = edit.hash('tree', data);
  edit.trees.push({ oid: root, data, entries: entries.list });
  return root;
}

/** A folder's entries, which stay in git's order: a folder of a thousand is not sorted anew for one of them. */
class Entries {
  readonly list: TreeEntry[];

  constructor(entries: readonly TreeEntry[]) {
    this.list = [...entries];
  }

  get(name: string): TreeEntry | undefined {
    return this.list.find((entry) => entry.name === name);
  }

  put(entry: TreeEntry): void {
    this.delete(entry.name);
    let [low, high] = [0, this.list.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const there = this.list[middle];
      if (there !== undefined && gitOrder(there, entry) < 0) low = middle + 1;
      else high = middle;
    }
    this.list.splice(low, 0, entry);
  }

  /** Whether it was there. */
  delete(name: string): boolean {
    const at = this.list.findIndex((entry) => entry.name === name);
    if (at !== -1) this.list.splice(at, 1);
    return at !== -1;
  }
}

function putFile(entries: Entries, name: string, change: { blob: Oid } | null, path: string): boolean {
  const there = entries.get(name);
  if (there !== undefined && isFolder(there)) {
    // Taking out a file that is a folder takes nothing out: the file is not there.
    if (change === null) return false;
    throw inTheWay(`${path}${name}`, 'a folder');
  }
  if (change === null) return entries.delete(name);
  if (there?.oid === change.blob && there.mode === fileMode) return false;
  entries.put({ mode: fileMode, name, oid: change.blob });
  return true;
}

async function putFolder(edit: Edit, entries: Entries, name: string, inner: Plan, path: string): Promise<boolean> {
  const there = entries.get(name);
  if (there !== undefined && !isFolder(there)) {
    if (!addsSomething(inner)) return false;
    throw inTheWay(`${path}${name}`, 'a file');
  }
  if (there === undefined && !addsSomething(inner)) return false;
  const oid = await editFolder(edit, there?.oid ?? null, inner, `${path}${name}/`);
  if (oid === null) return entries.delete(name);
  if (there?.oid === oid) return false;
  entries.put({ mode: folderMode, name, oid });
  return true;
}

function addsSomething(plan: Plan): boolean {
  return [...plan.files.values()].some((change) => change !== null) || [...plan.folders.values()].some(addsSomething);
}

function inTheWay(path: string, what: string): MeshError {
  return new MeshError('conflict', `${path} cannot be written: there is ${what} of that name`);
}
