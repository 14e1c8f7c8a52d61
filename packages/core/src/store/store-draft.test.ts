import { spawnSync } from 'node:child_process';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newStore, storeConfig, storeDeps, temporaryFolder } from '../testing/store-fixture.js';
import type { Fs } from './fs.js';
import { ownIdentity } from './identity.js';
import { nodeFs } from './node-fs.js';
import type { ProcessIdentity } from './ports.js';
import { Store } from './store.js';

let folder: { path: string; remove: () => Promise<void> };
let dir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dir = join(folder.path, 'store');
});
afterEach(() => folder.remove());

const create = (fs: Fs = nodeFs) => Store.create(dir, { config: storeConfig() }, { ...storeDeps(), fs });
const beside = (): Promise<string[]> => readdir(folder.path);
const old = new Date(Date.now() - 11 * 60_000);
const draft = (n: number): string => `${dir}.tmp-00000000000${n}`;

/** One that has ended, as it would have named itself. */
async function deadProcess(): Promise<ProcessIdentity> {
  const { pid } = spawnSync(process.execPath, ['-e', '0']);
  return { ...(await ownIdentity()), pid, ticks: '1' };
}

async function leaveDraft(n: number, maker: ProcessIdentity | null, entries: readonly string[] = []): Promise<void> {
  await mkdir(join(draft(n), 'mesh'), { recursive: true });
  if (maker !== null) await writeFile(join(draft(n), 'mesh', 'maker.json'), JSON.stringify(maker));
  for (const name of entries) await writeFile(join(draft(n), name), 'x');
}

it('sweeps the drafts of killed processes before it makes a new one, and those of live ones never', async () => {
  const alive = await create();
  await leaveDraft(1, await deadProcess(), ['config']);
  await (await create()).publish();
  expect((await beside()).sort()).toEqual(['store', basename(alive.store.dir)].sort());
});

it('sweeps a draft that names no maker once it is old, and nothing that is no draft', async () => {
  await leaveDraft(1, null);
  await leaveDraft(2, null, ['config', 'HEAD']);
  await leaveDraft(3, null, ['thesis.odt']);
  await leaveDraft(4, null);
  for (const n of [1, 2, 3]) await utimes(draft(n), old, old);
  await mkdir(`${dir}.tmp-backup`);
  await utimes(`${dir}.tmp-backup`, old, old);
  await Store.prepare(dir);
  expect((await beside()).sort()).toEqual([basename(draft(3)), basename(draft(4)), 'store.tmp-backup']);
});

it('sweeps drafts from the store that stands at their place', async () => {
  const store = await newStore(dir);
  await leaveDraft(1, await deadProcess());
  expect(await store.sweep()).toBe(1);
  expect(await beside()).toEqual(['store']);
});

it('a store in its place names no maker', async () => {
  await (await create()).publish();
  expect(await readdir(join(dir, 'mesh'))).not.toContain('maker.json');
});

it('makes a store where the folder around it may not be listed', async () => {
  const unlisted: Fs = {
    ...nodeFs,
    list: (path) =>
      path === dirname(dir)
        ? Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }))
        : nodeFs.list(path),
  };
  await (await create(unlisted)).publish();
  expect((await stat(join(dir, 'mesh', 'config.json'))).isFile()).toBe(true);
});

it('a publication that fails at its last step leaves no store behind', async () => {
  let fails = false;
  const failing: Fs = {
    ...nodeFs,
    syncFolder: (path) =>
      fails && path === dirname(dir)
        ? Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
        : nodeFs.syncFolder(path),
  };
  const building = await create(failing);
  fails = true;
  await expect(building.publish()).rejects.toMatchObject({ errorName: 'store_unusable' });
  await building.discard();
  expect(await beside()).toEqual([]);
});

it('is gone once it was retracted, from its place and beside it', async () => {
  const store = await newStore(dir);
  await store.retract();
  expect(await beside()).toEqual([]);
});

it('gives back the locks of the dead and leaves those of the living', async () => {
  const store = await newStore(dir);
  const lock = (identity: ProcessIdentity): string => JSON.stringify({ identity, nonce: 'n', since: 1 });
  const dead = lock(await deadProcess());
  await mkdir(join(dir, 'refs', 'heads', 'mesh'), { recursive: true });
  await writeFile(join(dir, 'mesh', 'lock'), dead);
  await writeFile(join(dir, 'refs', 'heads', 'mesh', 'x.lock'), dead);
  await writeFile(join(dir, 'packed-refs.lock'), lock(await ownIdentity()));
  expect(await store.sweep()).toBe(2);
  expect(await readdir(join(dir, 'refs', 'heads', 'mesh'))).toEqual([]);
  expect(await readdir(dir)).toContain('packed-refs.lock');
});

it("removes git's own locks once they are old, in the whole store, and leaves young ones", async () => {
  const store = await newStore(dir);
  await mkdir(join(dir, 'refs', 'remotes', 'origin'), { recursive: true });
  const old = ['HEAD', 'config', 'index', 'shallow', 'refs/heads/x', 'refs/remotes/origin/y'].map(
    (name) => `${name}.lock`,
  );
  const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of old) {
    await writeFile(join(dir, name), '');
    await utimes(join(dir, name), twoHoursAgo, twoHoursAgo);
  }
  await writeFile(join(dir, 'packed-refs.lock'), '');
  expect(await store.sweep()).toBe(old.length);
  expect((await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.lock'))).toEqual([
    'packed-refs.lock',
  ]);
});
