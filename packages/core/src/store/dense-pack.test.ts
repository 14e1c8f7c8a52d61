import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeCommit, encodeTree } from '../domain/git-object.js';
import type { GitObject, TreeEntry } from '../domain/git-object.js';
import type { EpochMillis, Oid } from '../domain/ids.js';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { densePack } from './dense-pack.js';
import { densify } from './densify.js';
import { GitEngine } from './git-engine.js';
import { byHand, inBackground } from './maintain-bounds.js';
import { nodeFs } from './node-fs.js';
import { hashObject } from './object-id.js';
import { StoreObjects } from './objects.js';
import { Pace } from './pace.js';
import { readPacks } from './pack-sources.js';

const { folder, store } = storeForEach();

const place = (): string => join(store.dir, 'objects', 'pack');
const stems = (): string[] =>
  readdirSync(place())
    .filter((name) => name.endsWith('.idx'))
    .map((name) => name.slice(0, -4));
const bytes = (): number => stems().reduce((sum, stem) => sum + statSync(join(place(), `${stem}.pack`)).size, 0);
const pace = (): Pace => new Pace({ sliceMs: 10, pauseMs: 0 });

/** Commits that each add a file to a folder and change another, a pack each; all objects. */
async function history(commits: number): Promise<Map<Oid, GitObject>> {
  const all = new Map<Oid, GitObject>();
  const entries: TreeEntry[] = [];
  let parent: Oid | null = null;
  const put = (type: GitObject['type'], data: Uint8Array): Oid => {
    const oid = hashObject(type, data);
    all.set(oid, { type, data });
    return oid;
  };
  const by = { name: 'studio', email: 'studio@mesh.invalid', at: 1_700_000_000_000 as EpochMillis };
  for (let n = 0; n < commits; n++) {
    const known = new Set(all.keys());
    const blob = put('blob', Buffer.from(`id: ${n}\nfrom: studio\npayload: {text: what is number ${n * 7919}}\n`));
    entries.push({ mode: '100644', name: `${String(n).padStart(4, '0')}.yaml`, oid: blob });
    const state = put('blob', Buffer.from(`agent: builder\nstatus: at ${n}\nrole: builds all the things\n`));
    const root = [
      { mode: '40000', name: 'messages', oid: put('tree', encodeTree(entries)) },
      { mode: '100644', name: 'state.yaml', oid: state },
    ];
    const at = by.at + Math.floor(n / 3) * 1000;
    const tree = put('tree', encodeTree(root));
    const person = { ...by, at };
    parent = put(
      'commit',
      encodeCommit({
        tree,
        parents: parent === null ? [] : [parent],
        author: person,
        committer: person,
        gpgsig: null,
        message: `send ${n}\n`,
      }),
    );
    const added = [...all].filter(([oid]) => !known.has(oid)).map(([, object]) => object);
    await store.objects.write(added);
  }
  if (parent !== null) await git(store.dir, 'update-ref', 'refs/heads/mesh/studio', parent);
  return all;
}

async function maintained(whole = true): Promise<void> {
  while (await store.maintain({ whole }));
}

async function expectAll(all: ReadonlyMap<Oid, GitObject>): Promise<void> {
  const fresh = new StoreObjects(nodeFs, store.dir);
  for (const [oid, { type, data }] of all) {
    const read = await fresh.read(oid);
    expect(read.type).toBe(type);
    expect(Buffer.compare(read.data, data)).toBe(0);
  }
  expect(await fsck(store.dir)).toBe('');
}

it('makes a history far smaller, which stock git and isomorphic-git read', async () => {
  const all = await history(120);
  const before = bytes();
  await maintained();
  expect(stems()).toHaveLength(1);
  expect(bytes()).toBeLessThan(before / 6);
  await expectAll(all);
  const verified = await git(store.dir, 'verify-pack', '-v', join(place(), `${stems()[0] ?? ''}.idx`));
  const chains = [...verified.matchAll(/chain length = (\d+)/g)].map(([, length]) => Number(length));
  expect(Math.max(...chains)).toBeLessThanOrEqual(24);
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(/garbage: 0/);
  const engine = new GitEngine(store.dir);
  for (const oid of all.keys()) expect((await engine.read(oid)).data.length).toBe(all.get(oid)?.data.length);
  // Deltas are nothing to resolve by whoever gets it: the same pack is as good to a stock git elsewhere.
  execFileSync('git', ['init', '-q', '--bare', join(folder.path, 'other')]);
  const input = readFileSync(join(place(), `${stems()[0] ?? ''}.pack`));
  execFileSync('git', ['--git-dir', join(folder.path, 'other'), 'index-pack', '--strict', '--stdin'], { input });
});

it('has the newest whole, and nothing to do the next time', async () => {
  await history(40);
  await maintained();
  const [stem = ''] = stems();
  const tip = await git(store.dir, 'rev-parse', 'refs/heads/mesh/studio:messages');
  const verified = await git(store.dir, 'verify-pack', '-v', join(place(), `${stem}.idx`));
  const line = verified.split('\n').find((each) => each.startsWith(tip)) ?? '';
  // With a depth and a base it would have seven.
  expect(line.trim().split(/\s+/)).toHaveLength(5);
  expect(await new StoreObjects(nodeFs, store.dir).densify(byHand)).toBeNull();
  await maintained();
  expect(stems()).toEqual([stem]);
});

it.each([
  ['by distance', ['--delta-base-offset']],
  ['by name', []],
])('takes over packs of stock git with deltas %s, in which it finds the same objects again', async (_what, options) => {
  const all = await history(30);
  const names = [...all.keys()];
  for (const some of [names.slice(0, 90), names.slice(40)]) {
    const args = ['pack-objects', '-q', '--window=50', ...options, join(place(), 'pack')];
    execFileSync('git', ['--git-dir', store.dir, ...args], { input: `${some.join('\n')}\n` });
  }
  await maintained();
  expect(stems()).toHaveLength(1);
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(new RegExp(`in-pack: ${all.size}\npacks: 1\n`));
  await expectAll(all);
});

it('joins dense packs with newer ones, which become the bases', async () => {
  const all = await history(20);
  await maintained();
  for (const [oid, object] of await history(60)) all.set(oid, object);
  const before = bytes();
  await maintained();
  expect(stems()).toHaveLength(1);
  expect(bytes()).toBeLessThan(before / 3);
  await expectAll(all);
});

it('takes objects that no commit names, of every kind, and those of commits it cannot read', async () => {
  const all = new Map<Oid, GitObject>();
  const add = async (type: GitObject['type'], data: Buffer): Promise<Oid> => {
    const oid = hashObject(type, data);
    all.set(oid, { type, data });
    await store.objects.write([{ type, data }]);
    return oid;
  };
  const blob = await add('blob', Buffer.alloc(0));
  const tree = await add('tree', Buffer.from(encodeTree([{ mode: '100644', name: 'a', oid: blob }])));
  await add('tree', Buffer.alloc(0));
  await add('blob', Buffer.alloc(1_500_000, 'a long one '));
  const signer = 'X <x@y> 1700000000 +0000';
  await add('commit', Buffer.from(`tree ${tree}\nauthor ${signer}\ncommitter ${signer}\n\nno parent\n`));
  await add('commit', Buffer.from(`tree ${tree}\nodd\nauthor ${signer}\ncommitter ${signer}\n\nodd\n`));
  await add('tag', Buffer.from(`object ${blob}\ntype blob\ntag x\ntagger ${signer}\n\nt\n`));
  await maintained();
  expect(stems()).toHaveLength(1);
  const fresh = new StoreObjects(nodeFs, store.dir);
  for (const [oid, { data }] of all) expect(Buffer.compare((await fresh.read(oid)).data, data)).toBe(0);
});

it('leaves small packs to commits in the background, and makes those dense that they have done with', async () => {
  const all = await history(10);
  await maintained(false);
  expect(stems()).toHaveLength(10);
  for (const [oid, object] of await history(90)) all.set(oid, object);
  // As a commit joins them.
  while (await store.objects.isScattered()) await store.consolidate();
  const before = bytes();
  await maintained(false);
  expect(bytes()).toBeLessThan(before / 3);
  await expectAll(all);
  // A commit has no use for dense packs.
  expect(await store.objects.isScattered()).toBe(false);
});

it('publishes what was made of packs that somebody joined meanwhile', async () => {
  const all = await history(20);
  const objects = new StoreObjects(nodeFs, store.dir);
  const densified = await objects.densify(byHand);
  await store.consolidate();
  expect(densified).not.toBeNull();
  if (densified !== null) await objects.replace(densified);
  await expectAll(all);
  await maintained();
  expect(stems()).toHaveLength(1);
  await expectAll(all);
});

it('is given up where its signal says so, and has changed nothing then', async () => {
  await history(40);
  const before = stems();
  const bounds = { ...inBackground, whole: true, sliceMs: 0, signal: AbortSignal.abort(new Error('enough')) };
  await expect(densify(nodeFs, place(), { known: new Map(), ...bounds })).rejects.toThrow('enough');
  expect(readdirSync(place()).length).toBe(2 * before.length);
});

it('gives the same bytes for the same packs', async () => {
  await history(20);
  const packs = await readPacks(nodeFs, place(), { stems: stems(), maxBytes: 1e9 });
  expect((await densePack(packs, pace())).name).toBe((await densePack(packs, pace())).name);
});
