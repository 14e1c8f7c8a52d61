import { existsSync } from 'node:fs';
import { MeshError, Store, foundCharter, silentLogger } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { storeDeps } from './membership.js';
import { GitFixture } from './testing/git-fixture.js';
import { Peer } from './testing/remote-mesh.js';

// The attacker may push anything to the charter's branch. The mesh is of policy roster.

const ref = 'refs/heads/mesh/_charter';
let git: GitFixture;
let remote: string;
let studio: Peer;
let founded: string;

const setup = (machine: string): Parameters<typeof initMesh>[0] => ({
  dir: git.path(machine),
  env: process.env,
  logger: silentLogger,
  machine,
  hostname: machine,
});
const onRemote = (...args: string[]): string => git.git(['-C', remote, ...args]);

beforeEach(async () => {
  git = new GitFixture();
  remote = git.bare('team.git');
  await initMesh({ ...setup('studio'), remote, policy: 'roster' });
  studio = await Peer.open(git, git.path('studio'));
  founded = onRemote('rev-parse', ref);
});
afterEach(() => {
  git.remove();
});

/** An unsigned charter of policy open, on top of the founding or in its place. */
function forge(parents: readonly string[]): string {
  const yaml = `${onRemote('show', `${founded}:mesh.yaml`)}\n`.replace('policy: roster', 'policy: open');
  const blob = git.git(['-C', remote, 'hash-object', '-w', '--stdin'], yaml);
  const tree = git.git(['-C', remote, 'mktree'], `100644 blob ${blob}\tmesh.yaml\n`);
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.invalid', '-C', remote];
  return git.git([...identity, 'commit-tree', tree, '-m', 'charter', ...parents.flatMap((oid) => ['-p', oid])]);
}
/** The founding's own signature on another text. */
function copied(): string {
  const text = onRemote('cat-file', 'commit', founded).replace('init', 'unit');
  return git.git(['-C', remote, 'hash-object', '-t', 'commit', '-w', '--stdin'], `${text}\n`);
}
/** A whole founding by the attacker, well signed, of the mesh's id. */
async function ownFounding(): Promise<string> {
  await initMesh({ ...setup('mallory'), policy: 'open' });
  const store = await Store.open(git.path('mallory'), storeDeps(setup('mallory')));
  git.git(['-C', store.dir, 'update-ref', '-d', ref]);
  await store.saveConfig({ ...store.config, mesh: studio.store.config.mesh });
  await foundCharter(await Store.open(store.dir, storeDeps(setup('mallory'))), Date.now());
  git.git(['-C', remote, 'fetch', '-q', store.dir, ref]);
  return onRemote('rev-parse', 'FETCH_HEAD');
}

async function refusal(url: string): Promise<MeshError> {
  const error: unknown = await joinMesh({ ...setup('laptop'), url }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MeshError);
  expect(existsSync(git.path('laptop', 'HEAD'))).toBe(false);
  expect(onRemote('for-each-ref', '--format=%(refname)', 'refs/heads/mesh/laptop')).toBe('');
  return error as MeshError;
}

const forgeries = [
  ['a commit on top', () => forge([founded]), 'conflict'],
  ['an unsigned one in its place', () => forge([]), 'forbidden'],
  ['one with a copied signature', () => copied(), 'forbidden'],
] as const;

test.each(forgeries)('nobody joins under %s, by URL, invitation or bundle', async (_what, make, name) => {
  const { code } = await studio.api.invite({ confirm: true }, studio.call());
  const forged = make();
  onRemote('update-ref', ref, forged);
  for (const way of [remote, code ?? '']) {
    const error = await refusal(way);
    expect(error.errorName).toBe(name);
    expect(error.message).toContain(forged);
    if (name === 'conflict') expect(error.message).toContain(`push --force REMOTE ${founded}:${ref}`);
  }
  const bundle = git.path('forged.bundle');
  onRemote('bundle', 'create', '-q', bundle, ref, 'refs/heads/mesh/studio');
  expect((await refusal(bundle)).errorName).toBe(name);
  onRemote('update-ref', ref, founded);
  expect((await joinMesh({ ...setup('laptop'), url: remote })).machine).toBe('laptop');
});

test('a flood of commits on top is not fetched by a newcomer', async () => {
  const commit = (n: number): string =>
    `commit ${ref}\ncommitter x <x@example.invalid> ${1_700_000_000 + n} +0000\ndata 4\n${String(n).padStart(4).slice(-4)}\n` +
    (n === 0 ? `from ${founded}\n` : '');
  git.git(
    ['-C', remote, 'fast-import', '--quiet', '--force'],
    Array.from({ length: 20_000 }, (_, n) => commit(n)).join(''),
  );
  const error = await refusal(remote);
  expect(error.errorName).toBe('conflict');
  expect(error.message).toContain('a founding is one small commit');
});

test.each(forgeries)('a store that lost its copy does not take %s', async (_what, make) => {
  const forged = make();
  onRemote('update-ref', ref, forged);
  studio.git('update-ref', '-d', ref);
  studio.git('update-ref', '-d', 'refs/remotes/origin/mesh/_charter');
  await studio.sync();
  expect(studio.git('for-each-ref', '--format=%(objectname)', ref)).toBe('');
  expect((await studio.status()).problems.map(({ kind }) => kind)).toContain('charter_changed');
  onRemote('update-ref', ref, founded);
  await studio.sync();
  expect(studio.git('rev-parse', ref)).toBe(founded);
});

test('whoever has an invitation takes no charter that an attacker founded and signed', async () => {
  const { code } = await studio.api.invite({ confirm: true }, studio.call());
  const forged = await ownFounding();
  onRemote('update-ref', ref, forged);
  const error = await refusal(code ?? '');
  expect(error.errorName).toBe('different_mesh');
  expect(error.message).toContain(founded);
  await studio.sync();
  const [problem] = (await studio.status()).problems;
  expect(problem).toMatchObject({ kind: 'charter_changed' });
  expect(problem?.message).toContain('without an invitation takes the other one');
  expect(studio.git('rev-parse', ref)).toBe(founded);
});

test('without an invitation, a newcomer under such a charter hears from the machines that it is another one', async () => {
  remote = git.bare('open.git');
  await initMesh({ ...setup('desk'), remote, policy: 'open' });
  const desk = await Peer.open(git, git.path('desk'));
  founded = onRemote('rev-parse', ref);
  studio = desk;
  onRemote('update-ref', ref, await ownFounding());
  const { warning } = await joinMesh({ ...setup('laptop'), url: remote });
  expect(warning).toContain('Careful: desk joined by another charter');
  const bundle = git.path('rival.bundle');
  onRemote('bundle', 'create', '-q', bundle, ref, 'refs/heads/mesh/desk');
  const carried = await joinMesh({ ...setup('tower'), url: bundle });
  expect(carried.warning).toContain('Careful: desk joined by another charter');
  const laptop = await Peer.open(git, git.path('laptop'));
  const told = (await laptop.api.doctor()).problems.find(({ kind }) => kind === 'charter_conflict');
  expect(told?.message).toContain(founded.slice(0, 10));
  await desk.sync();
  const { problems } = await desk.status();
  const conflict = problems.find(({ kind }) => kind === 'charter_conflict')?.message;
  expect(conflict).toContain('laptop joined by another charter');
  await desk.sync();
  // One goes by the other: nobody is told to push without asking.
  const changed = (await desk.status()).problems.find(({ kind }) => kind === 'charter_changed')?.message;
  expect(changed).toMatch(/laptop goes by that one: find out/);
  expect(changed).not.toContain('push --force');
});

test('a store that lost its copy takes no charter but the one that its own branch names', async () => {
  const forged = await ownFounding();
  onRemote('update-ref', ref, forged);
  await studio.store.saveConfig({ ...studio.store.config, policy: 'open' });
  studio.git('update-ref', '-d', ref);
  studio.git('update-ref', '-d', 'refs/remotes/origin/mesh/_charter');
  await studio.sync();
  expect(studio.git('for-each-ref', '--format=%(objectname)', ref)).toBe('');
  expect((await studio.status()).problems.map(({ kind }) => kind)).toContain('charter_changed');
});

test('a machine that goes by a forged charter is not told to push it', async () => {
  const forged = forge([founded]);
  onRemote('update-ref', ref, forged);
  git.git(['-C', studio.store.dir, 'fetch', '-q', remote, ref]);
  studio.git('update-ref', ref, forged);
  onRemote('update-ref', ref, founded);
  await studio.sync();
  const { message } = (await studio.status()).problems.find(({ kind }) => kind === 'charter_changed') ?? {};
  expect(message).toContain('push it nowhere');
  expect(message).not.toContain('push --force');
});
