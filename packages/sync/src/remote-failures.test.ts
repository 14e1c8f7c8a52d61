import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMesh } from './open.js';
import { MeshError, silentLogger } from '@git-mesh/core';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let now: number;

beforeEach(async () => {
  now = Date.now();
  mesh = await remoteMesh(['studio', 'laptop'], { clock: { now: () => now } });
  [studio, laptop] = mesh.peers as [Peer, Peer];
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const remote = async (peer: Peer): Promise<unknown> => (await peer.facts()).remotes[0];
const waits = async (peer: Peer): Promise<number> => {
  const next = (await peer.facts()).remotes[0]?.next_try_at ?? null;
  return next === null ? 0 : Date.parse(next) - now;
};
const refuse = (): void => {
  const hook = join(mesh.remote, 'hooks', 'pre-receive');
  mkdirSync(join(mesh.remote, 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho "no pushes on Friday" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
};
/** A git whose services answer nothing. */
function hangingGit(): Record<string, string | undefined> {
  const folder = mesh.git.path('bin');
  mkdirSync(folder);
  const real = mesh.git.git(['--exec-path']);
  const script = `#!/bin/sh\ncase "$*" in *-pack*) exec sleep 60;; *) exec "${real}/git" "$@";; esac\n`;
  writeFileSync(join(folder, 'git'), script);
  chmodSync(join(folder, 'git'), 0o755);
  return { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
}

test('a remote that is gone is named, tried again later and later, and recovers', async () => {
  renameSync(mesh.remote, `${mesh.remote}.away`);
  const seen: number[] = [];
  for (let failures = 1; failures <= 8; failures++) {
    await studio.sync({ ignoreBackoff: false });
    expect(await remote(studio)).toMatchObject({ state: 'error', error: { name: 'remote_not_found' } });
    seen.push(await waits(studio));
    now += seen.at(-1) ?? 0;
  }
  expect(seen).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000]);
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'offline', error: { name: 'remote_not_found' } });
  renameSync(`${mesh.remote}.away`, mesh.remote);
  await studio.sync({ ignoreBackoff: false });
  expect(await remote(studio)).toMatchObject({ state: 'ok', error: null, next_try_at: null });
});

test('back-off is honoured, unless a person asks', async () => {
  renameSync(mesh.remote, `${mesh.remote}.away`);
  await studio.sync({ ignoreBackoff: false });
  renameSync(`${mesh.remote}.away`, mesh.remote);
  await studio.sync({ ignoreBackoff: false });
  expect(await remote(studio)).toMatchObject({ state: 'error' });
  // Nor does another process of this store try.
  const other = await Peer.open(mesh.git, studio.store.dir, { clock: { now: () => now } });
  await other.sync({ ignoreBackoff: false });
  expect(await remote(other)).toMatchObject({ state: 'error' });
  await other.sync();
  expect(await remote(other)).toMatchObject({ state: 'ok' });
  expect(await remote(studio)).toMatchObject({ state: 'ok' });
});

test('a clock that was set back holds up no remote', async () => {
  renameSync(mesh.remote, `${mesh.remote}.away`);
  await studio.sync({ ignoreBackoff: false });
  renameSync(`${mesh.remote}.away`, mesh.remote);
  now -= 3_600_000;
  await studio.sync({ ignoreBackoff: false });
  expect(await remote(studio)).toMatchObject({ state: 'ok' });
});

test('what one process learned of a remote shows in another, whichever looked last', async () => {
  const other = await Peer.open(mesh.git, studio.store.dir, { clock: { now: () => now } });
  await other.sync();
  now += 1000;
  await studio.sync();
  expect(await remote(studio)).toMatchObject({ state: 'ok' });
  renameSync(mesh.remote, `${mesh.remote}.away`);
  await other.sync();
  expect(await remote(studio)).toMatchObject({ state: 'error' });
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'offline' });
});

test('a remote that refuses pushes is still read, and asked to take them later and later', async () => {
  refuse();
  await studio.checkin('boss');
  const seen: number[] = [];
  for (let failures = 1; failures <= 4; failures++) {
    await studio.sync({ ignoreBackoff: false });
    expect(await remote(studio)).toMatchObject({
      state: 'error',
      queued: 1,
      error: { name: 'push_refused', message: expect.stringContaining('no pushes on Friday') as string },
    });
    seen.push(await waits(studio));
    now += seen.at(-1) ?? 0;
  }
  expect(seen).toEqual([750, 1500, 3000, 6000]);
  await studio.sync({ ignoreBackoff: false });
  // What arrives meanwhile is fetched although pushing waits.
  chmodSync(join(mesh.remote, 'hooks', 'pre-receive'), 0o644);
  await laptop.send('studio', 'news');
  await laptop.sync();
  await studio.sync({ ignoreBackoff: false });
  expect(await studio.inbox('boss')).toEqual(['news']);
  expect(await remote(studio)).toMatchObject({ state: 'error', error: { name: 'push_refused' } });
  now += 60_000;
  await studio.sync({ ignoreBackoff: false });
  expect(await remote(studio)).toMatchObject({ state: 'ok', queued: 0 });
});

test('a remote that is gone is told once, also where the store cannot note it', async () => {
  const unwritable = new MeshError('read_only', 'mesh/remotes cannot be written');
  studio.store.local.putRemote = () => Promise.reject(unwritable);
  renameSync(mesh.remote, `${mesh.remote}.away`);
  await studio.sync();
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'offline', error: { name: 'remote_not_found' } });
  renameSync(`${mesh.remote}.away`, mesh.remote);
  // Told by nothing else, it is the round's failure.
  now += 60_000;
  await expect(studio.sync()).rejects.toBe(unwritable);
});

test('an addressee that is unknown while no remote answers is told as unknown as far as is known', async () => {
  const send = (to: string): Promise<unknown> => studio.api.send({ to, msg_type: 'note' }, studio.call());
  const known = /No machine "nowhere" in this mesh. Known machines: laptop, studio/;
  await expect(send('nowhere')).rejects.toThrow(known);
  await expect(send('nowhere')).rejects.not.toThrow('as far as this machine knows');
  renameSync(mesh.remote, `${mesh.remote}.away`);
  const later = send('nowhere');
  await expect(later).rejects.toMatchObject({ errorName: 'machine_not_found', data: { to: 'nowhere' } });
  await expect(later).rejects.toThrow(known);
  await expect(later).rejects.toThrow(
    /That is as far as this machine knows: its last exchange failed \(there is nothing/,
  );
});

test('a remote that hangs is given up and named within the deadline', async () => {
  const hanging = await Peer.open(mesh.git, studio.store.dir, { env: hangingGit() });
  // What is at a path is read without git, but pushed with it.
  await hanging.send('laptop', 'waits');
  const start = Date.now();
  await hanging.sync({ deadlineMs: 500 });
  expect(Date.now() - start).toBeLessThan(5_000);
  expect(await remote(hanging)).toMatchObject({ state: 'error', error: { name: 'deadline' } });
});

test('a sender waits for a remote that hangs no longer than it said, though another round is under way', async () => {
  const open = await openMesh({ dir: studio.store.dir, env: hangingGit(), logger: silentLogger });
  try {
    const long = open.syncNow();
    const start = Date.now();
    const call = { connection: open.newConnection({ resident: false }) };
    await expect(open.api.send({ to: 'nowhere', msg_type: 'note' }, call)).rejects.toMatchObject({
      errorName: 'machine_not_found',
    });
    expect(Date.now() - start).toBeLessThan(4_000);
    await open.close();
    await long;
    // It was broken off by ourselves, which says nothing of the remote.
    expect((await studio.store.local.remote('origin'))?.error).toBeNull();
  } finally {
    await open.close();
  }
});
