import { copyFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { silentLogger } from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initMesh } from '../init.js';
import { joinMesh } from '../join.js';
import { exported } from '../testing/bundle-mesh.js';
import { Peer, remoteMesh } from '../testing/remote-mesh.js';
import type { RemoteMesh } from '../testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio']);
  // One was asked for.
  [studio] = mesh.peers as [Peer];
});

afterEach(() => {
  mesh.remove();
});

const join = (url: string, machine: string): Promise<MembershipResult> =>
  joinMesh({ dir: mesh.git.path(machine), url, env: process.env, logger: silentLogger, hostname: machine, machine });

test('a machine joins from a bundle of any name, and from a file URL', async () => {
  const { file } = await exported(mesh.git, studio);
  const odd = mesh.git.path('handed over');
  copyFileSync(file, odd);
  const joined = await join(odd, 'lab');
  expect(joined).toMatchObject({ machine: 'lab', mesh: studio.store.config.mesh, remotes: [], writable: false });
  expect(await join(pathToFileURL(file).href, 'yard')).toMatchObject({ machine: 'yard' });
  const lab = await Peer.open(mesh.git, joined.store);
  expect(await lab.accepted('studio')).toBe(studio.tip());
  expect((await lab.status()).problems).toEqual([]);
  lab.git('fsck', '--strict');
});

test('a machine that joined from a bundle can gain the remote later: both sides then know each other', async () => {
  const { file } = await exported(mesh.git, studio);
  const { store } = await join(file, 'lab');
  const offline = await Peer.open(mesh.git, store);
  await offline.checkin('qa');
  await studio.send('*', 1);
  await offline.store.saveConfig({ ...offline.store.config, remotes: [{ name: 'origin', url: mesh.remote }] });
  const lab = await Peer.open(mesh.git, store);
  await studio.sync();
  await lab.sync();
  await studio.sync();
  expect(await lab.inbox('qa')).toEqual([1]);
  expect(await studio.accepted('lab')).toBe(lab.tip());
  expect((await lab.status()).problems).toEqual([]);
});

test('an incremental bundle, one of no mesh, and a taken handle are refused, and nothing is left behind', async () => {
  await exported(mesh.git, studio, 'x');
  await studio.checkin('boss');
  const incremental = await exported(mesh.git, studio, 'x');
  await expect(join(incremental.file, 'lab')).rejects.toMatchObject({ errorName: 'bundle_incomplete' });
  const none = mesh.git.path('none.bundle');
  studio.git('bundle', 'create', '--quiet', none, studio.store.branch);
  await expect(join(none, 'lab')).rejects.toMatchObject({ errorName: 'not_found' });
  const { file } = await exported(mesh.git, studio);
  await expect(join(file, 'studio')).rejects.toMatchObject({ errorName: 'handle_taken' });
  writeFileSync(none, 'garbage');
  await expect(join(none, 'lab')).rejects.toMatchObject({ errorName: 'invalid_argument' });
  expect(await join(file, 'lab')).toMatchObject({ machine: 'lab' });
});

test('a mesh under another prefix is found in its bundle', async () => {
  const setup = { dir: mesh.git.path('hidden'), env: process.env, logger: silentLogger, hostname: 'hidden' };
  await initMesh({ ...setup, refPrefix: 'refs/mesh/' });
  const hidden = await Peer.open(mesh.git, setup.dir);
  const joined = await join((await exported(mesh.git, hidden)).file, 'lab');
  const lab = await Peer.open(mesh.git, joined.store);
  expect(lab.store.config.ref_prefix).toBe('refs/mesh/');
  expect(await lab.accepted('hidden')).toBe(hidden.tip());
});
