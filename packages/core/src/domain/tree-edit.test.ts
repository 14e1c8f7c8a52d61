import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import type { ObjectType, TreeEntry } from './git-object.js';
import { decodeTree, encodeTree } from './git-object.js';
import type { Oid } from './ids.js';
import type { TreeChange, TreeFile } from './tree-edit.js';
import { diffTree, editTree, emptyTree, lookupPath, walkTree } from './tree-edit.js';

function hash(type: ObjectType, data: Uint8Array): Oid {
  const header = `${type} ${data.length}\0`;
  return createHash('sha1').update(header).update(data).digest('hex') as Oid;
}
const blob = (n: number): Oid => hash('blob', Uint8Array.of(n));

/** Trees in memory that count what is read. */
class Trees {
  readonly objects = new Map<Oid, Uint8Array>();
  reads: Oid[] = [];
  readonly read = (oid: Oid): Promise<readonly TreeEntry[]> => {
    this.reads.push(oid);
    const data = this.objects.get(oid);
    return data === undefined ? Promise.reject(new Error(`no tree ${oid}`)) : Promise.resolve(decodeTree(data));
  };
  async edit(root: Oid | null, edits: Record<string, number | null>): Promise<Oid> {
    const map = new Map(Object.entries(edits).map(([path, n]) => [path, n === null ? null : { blob: blob(n) }]));
    const edited = await editTree({ root, readTree: this.read, edits: map, hash });
    for (const tree of edited.trees) this.objects.set(tree.oid, tree.data);
    return edited.root;
  }
  put(entries: TreeEntry[]): Oid {
    const data = encodeTree(entries);
    const oid = hash('tree', data);
    this.objects.set(oid, data);
    return oid;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tree-edit-'));
  execFileSync('git', ['init', '-q', '--bare', dir]);
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** The tree that stock git writes for these files. */
function gitTree(files: ReadonlyMap<string, Oid>): string {
  const env = { ...process.env, GIT_DIR: dir, GIT_INDEX_FILE: join(dir, randomUUID()) };
  const input = [...files].map(([path, oid]) => `100644 ${oid}\t${path}\0`).join('');
  execFileSync('git', ['update-index', '-z', '--index-info'], { env, input });
  return execFileSync('git', ['write-tree', '--missing-ok'], { env, encoding: 'utf8' }).trim();
}

const path = fc
  .array(fc.constantFrom('a', 'b', 'a.b', 'a-b', 'a0', 'é', '😀', '\uffee', 'messages', 'Z'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('/'));

describe('editTree', () => {
  it('makes the trees that stock git makes of the same files, and only reads what it changes', async () => {
    const edits = fc.array(fc.tuple(path, fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(null))), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edits, { minLength: 1, maxLength: 4 }), async (batches) => {
        const trees = new Trees();
        const files = new Map<string, Oid>();
        let root: Oid | null = null;
        for (const batch of batches) {
          const clash = (p: string): boolean =>
            [...files.keys()].some((f) => f !== p && (f.startsWith(`${p}/`) || p.startsWith(`${f}/`)));
          const wanted: Record<string, number | null> = {};
          for (const [p, n] of batch) {
            // What git's index would resolve by deleting is a conflict here; it has a test of its own.
            if (n !== null && clash(p)) continue;
            wanted[p] = n;
            if (n === null) files.delete(p);
            else files.set(p, blob(n));
          }
          // The batch is one edit: a path that clashes with another's earlier state in it is left out.
          const before: Oid | null = root;
          try {
            root = await trees.edit(root, wanted);
          } catch (error) {
            expect(error).toBeInstanceOf(MeshError);
            expect((error as MeshError).errorName).toBe('conflict');
            expect(before).toBe(root);
            return;
          }
          expect(root).toBe(gitTree(files));
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);

  it('removes folders that are left empty, up to the root', async () => {
    const trees = new Trees();
    const one = await trees.edit(null, { 'a/b/c.yaml': 1 });
    expect(await trees.edit(one, { 'a/b/c.yaml': null })).toBe(emptyTree);
    expect(await trees.edit(null, {})).toBe(emptyTree);
    expect(await trees.edit(emptyTree, { x: 1 })).toBe(await trees.edit(null, { x: 1 }));
  });

  it('gives the same root and no new trees where nothing changes', async () => {
    const trees = new Trees();
    const root = await trees.edit(null, { 'a/b': 1, c: 2 });
    const edits = new Map([
      ['a/b', { blob: blob(1) }],
      ['x/y/z', null],
      ['c/d', null],
      ['a', null],
    ]);
    expect(await editTree({ root, readTree: trees.read, edits, hash })).toEqual({ root, trees: [] });
  });

  it('never reads a subtree without an edit', async () => {
    const trees = new Trees();
    const root = await trees.edit(null, {
      'messages/laptop/2026-12-02/0507/m': 1,
      'acks/studio/a': 1,
      'presence/x': 1,
    });
    trees.reads = [];
    await trees.edit(root, { 'presence/y': 2 });
    expect(trees.reads).toHaveLength(2);
  });

  it('replaces an entry that is no plain file', async () => {
    const trees = new Trees();
    const root = trees.put([{ mode: '120000', name: 'a', oid: blob(1) }]);
    expect(await trees.edit(root, { a: 1 })).toBe(await trees.edit(null, { a: 1 }));
  });

  it('refuses a file where a folder is, and the other way round', async () => {
    const trees = new Trees();
    const root = await trees.edit(null, { 'a/b': 1 });
    await expect(trees.edit(root, { a: 1 })).rejects.toThrow('a cannot be written: there is a folder');
    await expect(trees.edit(root, { 'a/b/c': 1 })).rejects.toThrow('a/b cannot be written: there is a file');
    await expect(trees.edit(null, { 'a/b': 1, 'a/b/c': 1 })).rejects.toThrow(MeshError);
    expect(await trees.edit(root, { 'a/b': null, 'a/c': 1 })).toBe(await trees.edit(null, { 'a/c': 1 }));
  });

  it.each(['', '/a', 'a/', 'a//b', '.', 'a/../b', './a', 'a\0b'])('refuses the path %j', async (bad) => {
    await expect(new Trees().edit(null, { [bad]: 1 })).rejects.toThrow(/no path/);
  });
});

describe('diffTree', () => {
  it('gives exactly the files that differ', async () => {
    const files = fc.dictionary(
      fc.constantFrom('a/x', 'a/y', 'b/x', 'b/c/d', 'c', 'd', 'a.b'),
      fc.integer({ min: 0, max: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(files, files, async (left, right) => {
        const trees = new Trees();
        const from = await trees.edit(null, left);
        const to = await trees.edit(null, right);
        const changes = await all(diffTree({ from, to, readTree: trees.read }));
        const expected = [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(
          (p) => left[p] !== right[p],
        );
        expect(changes.map((change) => change.path).sort()).toEqual(expected.sort());
        for (const { path: p, before, after } of changes) {
          expect(before).toBe(left[p] === undefined ? null : blob(left[p]));
          expect(after).toBe(right[p] === undefined ? null : blob(right[p]));
        }
      }),
    );
  });

  it('reads only what differs below the prefix, which may be a folder or a file', async () => {
    const trees = new Trees();
    const from = await trees.edit(null, { 'messages/a/1': 1, 'messages/b/1': 1, 'acks/x': 1, 'receipts/a': 1 });
    const to = await trees.edit(from, { 'messages/a/2': 2, 'acks/y': 2, 'receipts/a': 2 });
    trees.reads = [];
    expect(await all(diffTree({ from, to, readTree: trees.read, prefix: 'messages/b/' }))).toEqual([]);
    expect(trees.reads.length).toBeLessThanOrEqual(4);
    const change = (p: string, before: Oid | null, after: Oid): TreeChange => ({
      path: p,
      before,
      after,
      mode: '100644',
    });
    expect(await all(diffTree({ from, to, readTree: trees.read, prefix: 'messages/a' }))).toEqual([
      change('messages/a/2', null, blob(2)),
    ]);
    expect(await all(diffTree({ from, to, readTree: trees.read, prefix: 'receipts/a' }))).toEqual([
      change('receipts/a', blob(1), blob(2)),
    ]);
    expect(await all(diffTree({ from: null, to, readTree: trees.read, prefix: 'nothing/here/' }))).toEqual([]);
    trees.reads = [];
    expect(await all(diffTree({ from: to, to, readTree: trees.read }))).toEqual([]);
    expect(trees.reads).toEqual([]);
  });

  it('gives modes, changes of mode, and a file that became a folder', async () => {
    const trees = new Trees();
    const from = trees.put([
      { mode: '100644', name: 'a', oid: blob(1) },
      { mode: '100644', name: 'b', oid: blob(1) },
    ]);
    const inner = trees.put([{ mode: '120000', name: 'link', oid: blob(2) }]);
    const to = trees.put([
      { mode: '100755', name: 'a', oid: blob(1) },
      { mode: '40000', name: 'b', oid: inner },
      { mode: '160000', name: 'c', oid: blob(3) },
    ]);
    expect((await all(diffTree({ from, to, readTree: trees.read }))).map(({ path: p, mode }) => [p, mode])).toEqual([
      ['a', '100755'],
      ['b', '100644'],
      ['b/link', '120000'],
      ['c', '160000'],
    ]);
  });

  it('stops at a tree that was built to explode', async () => {
    const trees = new Trees();
    let bomb = trees.put([{ mode: '100644', name: 'x', oid: blob(1) }]);
    for (let level = 0; level < 30; level++) {
      bomb = trees.put(Array.from({ length: 10 }, (_, i) => ({ mode: '40000', name: `d${i}`, oid: bomb })));
    }
    const walk = all(walkTree({ tree: bomb, readTree: trees.read, maxEntries: 10_000, maxDepth: 40 }));
    await expect(walk).rejects.toThrow(/more than 10000 entries/);
    const shallow = await all(walkTree({ tree: bomb, readTree: trees.read, maxDepth: 1 }));
    expect(shallow).toHaveLength(100);
    expect(shallow.every(({ mode, path: p }) => mode === '40000' && p.split('/').length === 2)).toBe(true);
    const pruned = await all(walkTree({ tree: bomb, readTree: trees.read, descend: (p) => p === '' }));
    expect(pruned.map(({ path: p }) => p)).toEqual(Array.from({ length: 10 }, (_, i) => `d${i}`));
  });

  it('survives five thousand levels', async () => {
    const trees = new Trees();
    let deep = trees.put([{ mode: '100644', name: 'x', oid: blob(1) }]);
    for (let level = 0; level < 5_000; level++) deep = trees.put([{ mode: '40000', name: 'd', oid: deep }]);
    const found: TreeFile[] = await all(walkTree({ tree: deep, readTree: trees.read }));
    expect(found).toMatchObject([{ mode: '40000', path: 'd/d/d/d/d/d/d/d/d' }]);
  });
});

describe('lookupPath', () => {
  it('finds files and folders, and nothing below a file', async () => {
    const trees = new Trees();
    const root = await trees.edit(null, { 'a/b': 1 });
    const at = (p: string): Promise<unknown> => lookupPath({ root, readTree: trees.read, path: p });
    expect(await at('a/b')).toMatchObject({ mode: '100644', oid: blob(1) });
    expect(await at('a/')).toMatchObject({ mode: '40000' });
    expect(await at('')).toEqual({ mode: '40000', oid: root });
    expect(await at('a/b/c')).toBeNull();
    expect(await at('x')).toBeNull();
    expect(await lookupPath({ root: null, readTree: trees.read, path: 'a' })).toBeNull();
  });
});
