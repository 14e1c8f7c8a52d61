import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { RemoteAddedResult, RemoteRemovedResult } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenMesh } from './contract.js';
import { initMesh } from './init.js';
import { openMesh } from './open.js';
import { addRemote } from './remote-add.js';
import { removeRemote } from './remote-remove.js';
import { HttpGitServer } from './testing/http-git-server.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
const open: OpenMesh[] = [];

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio] = mesh.peers as [Peer];
  await settle(mesh.peers);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  mesh.remove();
});

const at = () => ({ dir: studio.store.dir, env: { ...process.env }, logger: silentLogger });
const add = (name: string, url: string, more: object = {}): Promise<RemoteAddedResult> =>
  addRemote({ ...at(), name, url, ...more });
const remove = (name: string): Promise<RemoteRemovedResult> => removeRemote({ ...at(), name });
const handles = (repository: string): string[] =>
  [...mesh.git.refs(repository).keys()].map((ref) => ref.replace(/^refs\/heads\/(?:mesh\/)?/, '')).sort();
const configured = async (): Promise<string[]> => (await studio.store.refreshRemotes()).map(({ name }) => name);
const tipAt = (hub: string, handle: string): string | undefined =>
  mesh.git.refs(hub).get(`refs/heads/mesh/${handle}` as never);

test('an empty repository gets the charter, main and every branch that is known here', async () => {
  const hub = mesh.git.bare('second.git');
  expect(await add('second', hub)).toMatchObject({
    name: 'second',
    url: hub,
    found: 'empty',
    writable: true,
    remotes: [{ name: 'origin' }, { name: 'second', state: 'ok', queued: 0 }],
  });
  expect(handles(hub)).toEqual(['_charter', 'laptop', 'main', 'studio']);
  expect(await configured()).toEqual(['origin', 'second']);
});

test('a repository with other branches gets the mesh’s beside them, and keeps its own', async () => {
  const hub = mesh.git.bare('code.git');
  const commit = mesh.git.commit(hub, 'code');
  mesh.git.setRef(hub, 'refs/heads/main' as never, commit);
  mesh.git.setRef(hub, 'refs/heads/topic/_charter' as never, commit);
  expect(await add('code', hub)).toMatchObject({ found: 'repository', writable: true });
  expect(handles(hub)).toEqual(['_charter', 'laptop', 'main', 'studio', 'topic/_charter']);
  expect(mesh.git.refs(hub).get('refs/heads/main' as never)).toBe(commit);
});

test('a repository that has this mesh already brings what is new in it', async () => {
  const hub = mesh.git.bare('second.git');
  const [, laptop] = mesh.peers as [Peer, Peer];
  await addRemote({ dir: laptop.store.dir, env: process.env, logger: silentLogger, name: 'other', url: hub });
  await laptop.send('studio', 'through the second one');
  const both = await Peer.open(mesh.git, laptop.store.dir);
  both.remotes.shift();
  await both.sync();
  await studio.checkin('boss');
  expect(await add('second', hub)).toMatchObject({ found: 'mesh', writable: true });
  expect(await studio.inbox('boss')).toEqual(['through the second one']);
});

test('another mesh is refused, under any prefix, and nothing is stored', async () => {
  const before = readdirSync(join(studio.store.dir, 'mesh', 'remotes'));
  for (const refPrefix of [undefined, 'refs/mesh/', 'refs/heads/agents/']) {
    const hub = mesh.git.bare(`alien-${String(refPrefix?.length)}.git`);
    const alien = { dir: mesh.git.path(`alien-${String(refPrefix?.length)}`), env: process.env, logger: silentLogger };
    await initMesh({ ...alien, remote: hub, hostname: 'alien', ...(refPrefix === undefined ? {} : { refPrefix }) });
    const refs = mesh.git.refs(hub);
    await expect(add('alien', hub)).rejects.toMatchObject({ errorName: 'different_mesh', code: 409 });
    expect(mesh.git.refs(hub)).toEqual(refs);
  }
  expect(await configured()).toEqual(['origin']);
  expect(readdirSync(join(studio.store.dir, 'mesh', 'remotes'))).toEqual(before);
});

test.each([
  ['remote_not_found', 'missing.git'],
  ['not_a_repository', 'work'],
])('what cannot be used is refused as %s, and nothing is stored', async (errorName, name) => {
  mesh.git.git(['init', '--quiet', mesh.git.path('work')]);
  await expect(add('bad', mesh.git.path(name))).rejects.toMatchObject({ errorName });
  expect(await configured()).toEqual(['origin']);
});

test('a name or a repository is taken once, of two that are added at once too', async () => {
  const [one, two] = [mesh.git.bare('one.git'), mesh.git.bare('two.git')];
  await expect(add('Origin', one)).rejects.toMatchObject({ errorName: 'conflict', code: 409 });
  for (const url of [mesh.remote, `${mesh.remote}/`, `file://${mesh.remote}`]) {
    await expect(add('again', url)).rejects.toMatchObject({ errorName: 'conflict', data: { remote: 'origin' } });
  }
  const ends = await Promise.allSettled([add('x', one), add('x', two), add('y', one)]);
  expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  const remotes = await studio.store.refreshRemotes();
  expect(new Set(remotes.map(({ name }) => name)).size).toBe(remotes.length);
  expect(new Set(remotes.map(({ url }) => url)).size).toBe(remotes.length);
});

test('names and URLs that must not be stored are refused, without the secret', async () => {
  for (const name of ['', '../x', 'a b', 'con', '-f', 'x.lock']) {
    await expect(add(name, mesh.git.bare('n.git'))).rejects.toMatchObject({ errorName: 'invalid_argument' });
  }
  const failed = add('far', 'https://bob:hunter2@git.example.invalid/x.git');
  await expect(failed).rejects.toMatchObject({ errorName: 'invalid_argument' });
  await expect(failed).rejects.not.toThrow('hunter2');
  await expect(add('far', 'ext::sh -c true')).rejects.toMatchObject({ errorName: 'invalid_argument' });
  expect(await configured()).toEqual(['origin']);
});

test('a repository that everybody can read is refused, unless it is allowed', async () => {
  mesh.git.bare('public.git');
  const server = await HttpGitServer.start({ root: mesh.git.root, env: mesh.git.env });
  try {
    await expect(add('public', server.url('public.git'))).rejects.toMatchObject({ errorName: 'forbidden', code: 403 });
    expect(await configured()).toEqual(['origin']);
    expect(mesh.git.refs(mesh.git.path('public.git')).size).toBe(0);
    server.login = { username: 'bob', password: 'hunter2' };
    const env = { ...process.env, GIT_MESH_TOKEN: 'hunter2', GIT_MESH_USERNAME: 'bob' };
    expect(await add('private', server.url('public.git'), { env })).toMatchObject({ writable: true });
    await remove('private');
    server.login = null;
    expect(await add('public', server.url('public.git'), { allowPublic: true })).toMatchObject({ writable: true });
  } finally {
    await server.close();
  }
});

test('removing takes the remote, its state and its refs, and leaves the repository and what came from it', async () => {
  const hub = mesh.git.bare('second.git');
  await add('second', hub);
  const [, laptop] = mesh.peers as [Peer, Peer];
  await laptop.send('studio', 1);
  laptop.git('push', '--quiet', hub, laptop.store.branch);
  const both = await Peer.open(mesh.git, studio.store.dir);
  await both.sync();
  expect(studio.git('for-each-ref', 'refs/remotes/second')).not.toBe('');
  await expect(remove('secnd')).rejects.toMatchObject({
    errorName: 'not_found',
    message: expect.stringContaining('Known remotes: origin, second. Did you mean second?') as string,
  });
  expect(await remove('second')).toMatchObject({ name: 'second', url: hub, remotes: [{ name: 'origin' }] });
  expect(studio.git('for-each-ref', 'refs/remotes/second')).toBe('');
  expect(existsSync(join(studio.store.dir, 'mesh', 'remotes', 'second.json'))).toBe(false);
  expect(handles(hub)).toContain('studio');
  expect(await studio.accepted('laptop')).toBe(laptop.tip());
  expect(await remove('origin')).toMatchObject({ remotes: [] });
  await expect(remove('origin')).rejects.toMatchObject({ message: expect.stringContaining('has no remote') as string });
  await studio.store.refreshRemotes();
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'none' });
});

test('a name that is used again begins anew: nothing counts as pushed there', async () => {
  await add('second', mesh.git.bare('second.git'));
  await remove('second');
  const hook = mesh.git.bare('third.git');
  mesh.git.git(['-C', hook, 'config', 'receive.maxInputSize', '10']);
  const again = await add('second', hook);
  expect(again.writable).toBe(false);
  const second = again.remotes.find(({ name }) => name === 'second');
  expect(second?.queued).toBe((await studio.mesh.branches.ownBranch()).seq);
});

test('a worker takes remotes up and lets them go without being started again', async () => {
  const worker = await openMesh(at());
  open.push(worker);
  worker.startWorker();
  const until = (holds: () => boolean | Promise<boolean>): Promise<void> =>
    vi.waitFor(async () => { expect(await holds()).toBe(true); }, { timeout: 15_000, interval: 20 }); // prettier-ignore
  await until(() => worker.syncer.workerAlive());
  const hub = mesh.git.bare('second.git');
  await add('second', hub);
  const call = { connection: worker.newConnection({ resident: true }) };
  await worker.api.send({ to: 'laptop', msg_type: 'note' }, call);
  await until(() => tipAt(hub, 'studio') === studio.tip() && tipAt(mesh.remote, 'studio') === studio.tip());
  // What another brings to the new one arrives.
  const [, laptop] = mesh.peers as [Peer, Peer];
  await laptop.send('studio', 'through the second one');
  laptop.git('push', '--quiet', hub, laptop.store.branch);
  await until(async () => (await studio.accepted('laptop')) === laptop.tip());
  // Its receipt is out, and no exchange is under way any more that would still move the remote.
  await until(() => studio.git('log', '-1', '--format=%s', studio.store.branch).startsWith('receipt'));
  await until(() => tipAt(hub, 'studio') === studio.tip() && tipAt(mesh.remote, 'studio') === studio.tip());

  await remove('second');
  expect((await worker.api.status()).remotes.map(({ name }) => name)).toEqual(['origin']);
  const before = tipAt(hub, 'studio');
  await worker.api.send({ to: 'laptop', msg_type: 'note' }, call);
  await until(() => tipAt(mesh.remote, 'studio') === studio.tip());
  await worker.close();
  expect(tipAt(hub, 'studio')).toBe(before);
  expect(existsSync(join(studio.store.dir, 'mesh', 'remotes', 'second.json'))).toBe(false);
});

test('a repository whose charter somebody changed is added, and told of at once', async () => {
  const hub = mesh.git.bare('second.git');
  await add('second', hub);
  await remove('second');
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@y', '-C', hub];
  const charter = 'refs/heads/mesh/_charter';
  const later = mesh.git.git([...identity, 'commit-tree', `${charter}^{tree}`, '-m', 'x', '-p', charter]);
  mesh.git.git(['-C', hub, 'update-ref', charter, later]);
  const { found, problems } = await add('other', hub);
  expect([found, problems.map(({ kind }) => kind)]).toEqual(['mesh', ['charter_changed']]);
});
