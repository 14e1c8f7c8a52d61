import { rmSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { commitOnBranch } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk']);
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const remoteTip = (handle: string): string | undefined =>
  mesh.git.refs(mesh.remote).get(`refs/heads/mesh/${handle}` as never);
const eventsOf = (peer: Peer): string[] =>
  peer.git('log', '--format=%(trailers:key=Mesh-Event,valueonly,separator=)', peer.store.branch).split('\n');

test('messages arrive once each, in order, at everyone they are for, and the sender learns it', async () => {
  await laptop.checkin('dev');
  await desk.checkin('qa');
  await settle(mesh.peers);
  for (let n = 1; n <= 3; n++) await studio.send('*', n);
  await studio.send('laptop', 4, { to_agent: 'dev' });
  await settle(mesh.peers);
  for (let again = 0; again < 2; again++) await Promise.all(mesh.peers.map((peer) => peer.sync()));
  expect(await laptop.inbox('dev')).toEqual([1, 2, 3, 4]);
  expect(await desk.inbox('qa')).toEqual([1, 2, 3]);
  const { messages } = await studio.api.sent({}, studio.call());
  expect(messages.map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered', 'delivered']);
  expect(messages[1]?.delivered_to.map(({ machine }) => machine).sort()).toEqual(['desk', 'laptop']);
  expect(messages[0]?.delivered_to.map(({ machine }) => machine)).toEqual(['laptop']);
  expect(messages[0]?.pushed_at).not.toBeNull();
});

test('receipts never answer receipts: a quiet mesh makes no commit', async () => {
  await studio.send('*', 1);
  await laptop.send('studio', 2);
  await settle(mesh.peers);
  const before = mesh.peers.map((peer) => peer.tip());
  for (let rounds = 0; rounds < 5; rounds++) for (const peer of mesh.peers) await peer.sync();
  expect(mesh.peers.map((peer) => peer.tip())).toEqual(before);
  expect(eventsOf(desk).filter((event) => event === 'receipt').length).toBe(1);
});

test('a round that brings messages states one receipt for all senders', async () => {
  await studio.send('*', 1);
  await laptop.send('*', 2);
  await studio.sync();
  await laptop.sync();
  const before = eventsOf(desk).length;
  await desk.sync();
  expect(eventsOf(desk).length).toBe(before + 1);
  expect(desk.git('ls-tree', '-r', '--name-only', desk.store.branch)).toContain('receipts/laptop.yaml');
});

test('a presence record that moves is no message: nobody answers it', async () => {
  const before = [laptop.tip(), desk.tip()];
  await studio.checkin('boss');
  await settle(mesh.peers);
  expect([laptop.tip(), desk.tip()]).toEqual(before);
  expect((await laptop.api.agents({}, laptop.call())).agents.map(({ agent_id: id }) => id)).toEqual(['boss']);
});

test('a round with nothing to do takes no lock and makes no commit', async () => {
  await studio.sync();
  const tip = studio.tip();
  const lock = vi.spyOn(studio.store, 'withLock');
  await studio.sync();
  expect(lock).not.toHaveBeenCalled();
  expect(studio.tip()).toBe(tip);
});

test('a push sends exactly what is new', async () => {
  for (let n = 0; n < 5; n++) await studio.send('laptop', n);
  await studio.sync();
  const pack = vi.spyOn(studio.store.objects, 'pack');
  await studio.send('laptop', 'one more');
  await studio.sync();
  expect(pack).toHaveBeenCalledTimes(1);
  const listed = studio.git('rev-list', '--objects', `${studio.store.branch}~1..${studio.store.branch}`).split('\n');
  expect(new Set(pack.mock.calls[0]?.[0])).toEqual(new Set(listed.map((line) => line.split(' ')[0])));
  expect(remoteTip('studio')).toBe(studio.tip());
});

test('what was added to a folder and taken out again while the remote was away is pushed whole', async () => {
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  const commit = (edits: Map<string, Uint8Array | null>): Promise<unknown> =>
    studio.store.withLock(() =>
      commitOnBranch(studio.store, {
        edits,
        event: { event: 'prune', agent: null, messages: [], read: [], summary: 'x' },
        at: Date.now(),
      }),
    );
  await commit(
    new Map([
      ['roster/a.yaml', text('a')],
      ['roster/b.yaml', text('b')],
    ]),
  );
  await commit(new Map([['roster/c.yaml', text('c')]]));
  await commit(new Map([['roster/c.yaml', null]]));
  await studio.sync();
  expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok', queued: 0, error: null });
  expect(remoteTip('studio')).toBe(studio.tip());
  expect(mesh.git.git(['-C', mesh.remote, 'fsck', '--strict', '--no-dangling'])).toBe('');
});

test('a remote that was emptied gets the charter and every branch again', async () => {
  const charter = remoteTip('_charter');
  rmSync(mesh.remote, { recursive: true });
  mesh.git.bare('remote.git');
  await settle(mesh.peers);
  expect(remoteTip('_charter')).toBe(charter);
  for (const peer of mesh.peers) expect(remoteTip(peer.handle)).toBe(peer.tip());
  expect(mesh.git.git(['-C', mesh.remote, 'rev-parse', 'main'])).toBe(charter);
  await studio.send('laptop', 'after');
  await settle(mesh.peers);
  expect((await studio.api.sent({}, studio.call())).messages[0]?.state).toBe('delivered');
});

test('another mesh in its place is reported, and neither read nor written', async () => {
  const other = await remoteMesh(['alien']);
  try {
    await studio.send('laptop', 'waits');
    await laptop.checkin('dev');
    rmSync(mesh.remote, { recursive: true });
    await cp(other.remote, mesh.remote, { recursive: true });
    const before = mesh.git.refs(mesh.remote);
    for (let rounds = 0; rounds < 2; rounds++) {
      await studio.sync();
      expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'error', error: { name: 'different_mesh' } });
    }
    expect(mesh.git.refs(mesh.remote)).toEqual(before);
    expect(await studio.accepted('alien')).toBeNull();
    expect((await studio.api.doctor()).problems.map(({ kind }) => kind)).toContain('different_mesh');
  } finally {
    other.remove();
  }
});

test('foreign commits on the own branch are reported; nothing is overwritten, pushed there or lost', async () => {
  const foreign = await studio.forge({ sign: laptop });
  studio.forcePush(mesh.remote, foreign);
  const own = studio.tip();
  await studio.send('laptop', 'here');
  const after = studio.tip();
  for (let rounds = 0; rounds < 3; rounds++) await studio.sync();
  expect(remoteTip('studio')).toBe(foreign);
  expect(studio.tip()).toBe(after);
  expect(own).not.toBe(after);
  const { problems } = await studio.status();
  expect(problems.map(({ kind, machine }) => [kind, machine])).toEqual([['own_branch_foreign', 'studio']]);
  studio.forcePush(mesh.remote, own);
  await studio.sync();
  expect((await studio.status()).problems).toEqual([]);
  expect(remoteTip('studio')).toBe(after);
});

test('an own branch that was rewritten on the remote is reported and not pushed over', async () => {
  await studio.send('laptop', 1);
  await studio.sync();
  const base = studio.git('rev-parse', `${studio.store.branch}~1`) as Oid;
  const fork = await studio.forge({ parents: [base], sign: laptop });
  studio.forcePush(mesh.remote, fork);
  const own = studio.tip();
  await studio.sync();
  expect([remoteTip('studio'), studio.tip()]).toEqual([fork, own]);
  expect((await studio.status()).problems.map(({ kind }) => kind)).toEqual(['own_branch_foreign']);
});

test('a store that was put back from a backup takes its branch back and gives no number twice', async () => {
  await studio.checkin('boss');
  await studio.send('laptop', 1);
  await studio.sync();
  await cp(studio.store.dir, mesh.git.path('backup'), { recursive: true });
  await studio.send('laptop', 2);
  await laptop.send('studio', 3);
  await settle(mesh.peers);
  const before = studio.tip();
  await rm(studio.store.dir, { recursive: true });
  await cp(mesh.git.path('backup'), studio.store.dir, { recursive: true });
  const restored = await Peer.open(mesh.git, studio.store.dir);
  await restored.sync();
  expect((await restored.status()).problems).toEqual([]);
  expect(restored.git('merge-base', '--is-ancestor', before, restored.store.branch)).toBe('');
  expect(await restored.send('laptop', 4)).toBeGreaterThan(10_000);
  await settle([restored, laptop, desk]);
  expect(remoteTip('studio')).toBe(restored.tip());
  expect(await restored.inbox('boss')).toEqual([3]);
});

test('rounds of two processes on one store lose nothing and number nothing twice', async () => {
  const second = await Peer.open(mesh.git, laptop.store.dir);
  await laptop.checkin('dev');
  await settle(mesh.peers);
  for (let n = 0; n < 8; n++) {
    await studio.send('laptop', n);
    await studio.sync();
    await Promise.all([laptop.sync(), second.sync(), laptop.send('studio', `l${n}`), second.send('studio', `s${n}`)]);
  }
  await settle([studio, laptop, second, desk]);
  expect(await laptop.inbox('dev')).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  const numbers = (await second.store.journal.view()).messages.map(({ n }) => n);
  expect(new Set(numbers).size).toBe(24);
  expect((await studio.store.journal.view()).messages.filter(({ sender }) => sender === 'laptop').length).toBe(16);
  expect(laptop.git('fsck', '--strict', '--no-dangling')).toBe('');
  for (const peer of [laptop, second]) expect((await peer.status()).problems).toEqual([]);
});

test('a crash between the ref and the journal loses nothing', async () => {
  await laptop.checkin('dev');
  await studio.send('laptop', 'x');
  await studio.sync();
  laptop.git('fetch', '--quiet', mesh.remote, '+refs/heads/mesh/studio:refs/heads/mesh/studio');
  laptop.git('update-ref', 'refs/remotes/origin/mesh/studio', 'refs/heads/mesh/studio');
  await laptop.sync();
  expect(await laptop.inbox('dev')).toEqual(['x']);
});

test('a crash between the fetched ref and the decision on it loses nothing', async () => {
  await laptop.checkin('dev');
  await studio.send('laptop', 'x');
  await studio.sync();
  laptop.git('fetch', '--quiet', mesh.remote, '+refs/heads/mesh/studio:refs/remotes/origin/mesh/studio');
  await laptop.sync();
  expect(await laptop.accepted('studio')).toBe(studio.tip());
  expect(await laptop.inbox('dev')).toEqual(['x']);
});
