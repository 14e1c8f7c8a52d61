import { silentLogger } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
  await studio.checkin('boss');
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const onRemote = (...args: string[]): string => mesh.git.git(['-C', mesh.remote, ...args]);
const ref = (name: string): string => `refs/heads/mesh/${name}`;
const kinds = async (peer: Peer): Promise<unknown[]> =>
  (await peer.status()).problems
    .filter(({ kind }) => kind !== 'branch_rewound')
    .map(({ kind, machine }) => [kind, machine]);

test('a ref that stands in the way of a branch is named to its machine and to the others, with the way out', async () => {
  const tip = onRemote('rev-parse', ref('laptop'));
  onRemote('update-ref', '-d', ref('laptop'));
  onRemote('update-ref', ref('laptop/sub'), tip);
  await laptop.send('studio', 'waits');
  for (const peer of [laptop, studio, laptop]) {
    await peer.sync();
    expect(await kinds(peer)).toEqual([['ref_blocked', 'laptop']]);
    expect((await peer.api.doctor()).problems.map(({ kind }) => kind)).toContain('ref_blocked');
  }
  const [remote] = (await laptop.facts()).remotes;
  expect(remote?.error?.name).toBe('ref_blocked');
  const { problems } = await laptop.status();
  expect(problems.map(({ fix }) => fix).join()).not.toContain('write access');
  const command = /git --git-dir .* --delete \S+/.exec(remote?.error?.message ?? '')?.[0].split(' ') ?? [];
  mesh.git.git(command.slice(1));
  await laptop.sync();
  await studio.sync();
  expect(await studio.inbox('boss')).toEqual(['waits']);
  expect([await kinds(laptop), await kinds(studio)]).toEqual([[], []]);
});

test('a ref in the place of the folder of all branches, and one below the charter, are named', async () => {
  const tip = onRemote('rev-parse', ref('laptop'));
  onRemote('update-ref', '-d', ref('_charter'));
  onRemote('update-ref', ref('_charter/x'), tip);
  await studio.send('laptop', 'goes out all the same');
  await studio.sync();
  expect(await kinds(studio)).toEqual([['ref_blocked', '_charter']]);
  expect(onRemote('rev-parse', ref('studio'))).toBe(studio.tip());
  for (const name of ['_charter/x', 'laptop', 'studio']) onRemote('update-ref', '-d', ref(name));
  onRemote('update-ref', 'refs/heads/mesh', tip);
  await laptop.sync();
  expect(await kinds(laptop)).toEqual([['ref_blocked', 'laptop']]);
  onRemote('update-ref', '-d', 'refs/heads/mesh');
  await settle(mesh.peers);
  expect(onRemote('rev-parse', ref('laptop'))).toBe(laptop.tip());
  expect(await kinds(laptop)).not.toContainEqual(['ref_blocked', 'laptop']);
});

test('refs of no meaning under the prefix are a notice of doctor, counted, visible, and no problem', async () => {
  const tip = onRemote('rev-parse', ref('laptop'));
  for (const name of ['A', 'con', '_evil', 'x/y', 'b\u202eidi', 'z'.repeat(60)]) onRemote('update-ref', ref(name), tip);
  await studio.sync();
  const { ok, problems, notices } = await studio.api.doctor();
  expect([ok, problems]).toEqual([true, []]);
  expect(notices).toMatchObject([{ kind: 'odd_refs', message: expect.stringContaining('6 refs') as string }]);
  expect(notices?.[0]?.message).toContain('b\\u202eidi');
  expect(notices?.[0]?.message).not.toContain('\u202e');
});

test('who founds or joins where a ref has the place of all branches is told so, and how to go on', async () => {
  const hub = mesh.git.bare('blocked.git');
  mesh.git.setRef(hub, 'refs/heads/mesh' as never, mesh.git.commit(hub, 'theirs'));
  const set = { env: process.env, logger: silentLogger, hostname: 'x', machine: 'x', dir: mesh.git.path('x') };
  const words = /refs\/heads\/mesh stands there in the way .*--delete refs\/heads\/mesh/;
  await expect(joinMesh({ ...set, url: hub })).rejects.toMatchObject({
    message: expect.stringMatching(words) as string,
  });
  await expect(initMesh({ ...set, remote: hub })).rejects.toMatchObject({
    message: expect.stringMatching(words) as string,
  });
});
