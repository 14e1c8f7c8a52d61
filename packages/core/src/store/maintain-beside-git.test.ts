import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { nodeFs } from './node-fs.js';
import { StoreObjects } from './objects.js';

const { folder, store } = storeForEach();

const place = (): string => join(store.dir, 'objects', 'pack');
const files = (): string[] => readdirSync(place()).sort();
const packs = (): string[] => files().filter((name) => name.endsWith('.pack'));

/** Commits of stock git's making on a branch, their objects loose and an hour old; the ids of the commits. */
function commits(count: number, branch = 'refs/heads/mesh/studio', dir = store.dir): string[] {
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'x',
    GIT_AUTHOR_EMAIL: 'x@y',
    GIT_COMMITTER_NAME: 'x',
    GIT_COMMITTER_EMAIL: 'x@y',
  };
  const run = (input: string, ...args: string[]): string =>
    execFileSync('git', ['--git-dir', dir, ...args], { input, env })
      .toString()
      .trim();
  const made: string[] = [];
  const lines: string[] = [];
  for (let n = 0; n < count; n++) {
    const blob = run(`${branch} ${n}\n${'the same in all of them\n'.repeat(20)}`, 'hash-object', '-w', '--stdin');
    lines.push(`100644 blob ${blob}\t${String(n).padStart(3, '0')}.yaml`);
    const tree = run(`${lines.join('\n')}\n`, 'mktree');
    const parent = made.at(-1);
    const parents = parent === undefined ? [] : ['-p', parent];
    made.push(run(`number ${n}\n`, 'commit-tree', tree, ...parents));
  }
  run('', 'update-ref', branch, made.at(-1) ?? '');
  age();
  return made;
}

function age(): void {
  const then = new Date(Date.now() - 3_600_000);
  for (const shard of readdirSync(join(store.dir, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of readdirSync(join(store.dir, 'objects', shard)))
      utimesSync(join(store.dir, 'objects', shard, name), then, then);
  }
}

async function maintained(): Promise<void> {
  while (await store.maintain({ whole: true }));
}

/** Stock git finds nothing amiss, and our own reader reads each object that it knows of. */
async function expectSound(): Promise<void> {
  expect(await fsck(store.dir)).toBe('');
  for (const name of packs()) await git(store.dir, 'verify-pack', join(place(), name.replace(/pack$/, 'idx')));
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(/garbage: 0/);
  const fresh = new StoreObjects(nodeFs, store.dir);
  const ids = await git(store.dir, 'rev-list', '--objects', '--no-object-names', '--all');
  for (const oid of ids.split('\n')) expect((await fresh.read(oid as never)).data).toBeInstanceOf(Uint8Array);
}

it('leaves a pack with a bitmap to git, and puts what comes after it into one of its own', async () => {
  commits(12);
  await git(store.dir, 'repack', '-adbq');
  const before = files();
  expect(before.some((name) => name.endsWith('.bitmap'))).toBe(true);
  commits(6, 'refs/heads/mesh/laptop');
  await maintained();
  expect(files()).toEqual(expect.arrayContaining(before));
  expect(packs()).toHaveLength(2);
  await expectSound();
  await git(store.dir, 'rev-list', '--test-bitmap', 'refs/heads/mesh/studio');
  expect(await git(store.dir, 'rev-list', '--count', '--use-bitmap-index', '--all')).toBe('18');
});

it('leaves every pack to git where there is a multi-pack-index, and still gathers loose objects', async () => {
  commits(6);
  await git(store.dir, 'repack', '-dq');
  commits(6, 'refs/heads/mesh/laptop');
  await git(store.dir, 'repack', '-dq');
  await git(store.dir, 'multi-pack-index', 'write');
  const before = files();
  commits(3, 'refs/heads/mesh/tower');
  await maintained();
  expect(files()).toEqual(expect.arrayContaining(before));
  expect(packs()).toHaveLength(3);
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(/^count: 0/);
  await git(store.dir, 'multi-pack-index', 'verify');
  await expectSound();
});

it('leaves a kept pack, and makes of the others one', async () => {
  commits(6);
  await git(store.dir, 'repack', '-dq');
  const [kept = ''] = packs();
  writeFileSync(join(place(), kept.replace(/pack$/, 'keep')), '');
  for (const name of ['laptop', 'tower']) {
    commits(4, `refs/heads/mesh/${name}`);
    await git(store.dir, 'repack', '-dq');
  }
  expect(packs()).toHaveLength(3);
  await maintained();
  expect(packs()).toHaveLength(2);
  expect(packs()).toContain(kept);
  await expectSound();
});

it('neither copies nor needs what an alternate has', async () => {
  const other = join(folder.path, 'other.git');
  await git(other, 'init', '-q', '--bare');
  const there = commits(5, 'refs/heads/mesh/studio', other);
  mkdirSync(join(store.dir, 'objects', 'info'), { recursive: true });
  writeFileSync(join(store.dir, 'objects', 'info', 'alternates'), `${join(other, 'objects')}\n`);
  await git(store.dir, 'update-ref', 'refs/heads/mesh/studio', there.at(-1) ?? '');
  commits(5, 'refs/heads/mesh/laptop');
  await maintained();
  expect(packs()).toHaveLength(1);
  expect(await fsck(store.dir)).toBe('');
  expect(existsSync(join(store.dir, 'objects', 'info', 'alternates'))).toBe(true);
  expect(await git(store.dir, 'rev-list', '--count', '--all')).toBe('10');
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(/in-pack: 15\npacks: 1\n/);
});

it('keeps a shallow store shallow and sound', async () => {
  const whole = join(folder.path, 'whole.git');
  await git(whole, 'init', '-q', '--bare');
  commits(8, 'refs/heads/mesh/studio', whole);
  await git(store.dir, 'fetch', '-q', '--depth=3', `file://${whole}`, '+refs/heads/mesh/*:refs/heads/mesh/*');
  commits(2, 'refs/heads/mesh/laptop');
  await maintained();
  expect(packs()).toHaveLength(1);
  expect(await git(store.dir, 'rev-list', '--count', 'refs/heads/mesh/studio')).toBe('3');
  await expectSound();
});

it('joins what git gc made into a dense pack, and git gc takes that again', async () => {
  commits(20);
  await git(store.dir, 'gc', '-q');
  commits(20, 'refs/heads/mesh/laptop');
  await maintained();
  await expectSound();
  await git(store.dir, 'gc', '-q');
  await maintained();
  await git(store.dir, 'repack', '-adfq');
  await expectSound();
  expect(await git(store.dir, 'rev-list', '--count', '--all')).toBe('40');
});
