import { afterEach, beforeEach, expect, test } from 'vitest';
import { remoteMesh } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
});
afterEach(() => {
  mesh.remove();
});

test('a remote with foreign commits on the own branch is an error of the exchange, with a way out', async () => {
  studio.forcePush(mesh.remote, await studio.forge({ sign: laptop }));
  const queued = (await studio.send('laptop', 1)) > 0 ? 1 : 0;
  await studio.sync();
  const error = { name: 'own_branch_foreign', message: expect.stringContaining('own branch') as string };
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'offline', error });
  const { remotes, problems } = await studio.status();
  expect(remotes).toMatchObject([{ state: 'error', error }]);
  expect(remotes[0]?.queued).toBeGreaterThanOrEqual(queued);
  expect(problems).toMatchObject([
    { kind: 'own_branch_foreign', machine: 'studio', fix: expect.stringContaining('--dir NEWDIR') as string },
  ]);
  const { warning } = await studio.api.send({ to: 'laptop', msg_type: 'note' }, studio.call());
  expect(warning).toMatch(/stored here, but it does not leave this machine: .*own branch/);
});

test('another machine’s branch that is not accepted is no error of the exchange, and its problem has a fix', async () => {
  laptop.forcePush(mesh.remote, await laptop.forge({ sign: studio }));
  await studio.sync();
  expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'ok', error: null });
  const { problems } = await studio.status();
  expect(problems).toMatchObject([{ kind: 'wrong_key', machine: 'laptop' }]);
  const look = /git --git-dir (\S+) log ([0-9a-f]+)/.exec(problems[0]?.fix ?? '');
  expect(look?.[1]).toBe(studio.store.dir);
  expect(studio.git('log', '-1', '--format=%s', look?.[2] ?? '')).toContain('forged');
});

test('hundreds of branches that are not accepted are counted, not each told, and hold up no one', async () => {
  const bad = await laptop.forge({ sign: false });
  laptop.forcePush(mesh.remote, bad);
  const refs = Array.from({ length: 300 }, (_, n) => `create refs/heads/mesh/a${n} ${bad}\n`);
  mesh.git.git(['-C', mesh.remote, 'update-ref', '--stdin'], refs.join(''));
  mesh.git.git(['-C', mesh.remote, 'pack-refs', '--all']);
  await studio.send('*', 1);
  for (let rounds = 0; rounds < 2; rounds++) {
    await studio.sync();
    expect(await studio.mesh.syncer.summary()).toMatchObject({ state: 'ok', queued: 0, error: null });
    const { problems } = await studio.status();
    expect(problems.length).toBe(51);
    expect(problems).toContainEqual(
      expect.objectContaining({
        kind: 'more_rejected',
        message: '251 more branches on remote origin are not accepted',
      }),
    );
  }
});
