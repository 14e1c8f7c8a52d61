import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRemote } from './remote-add.js';
import { joinMesh } from './join.js';
import { reclaimBranch } from './reclaim.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  const [first, second] = mesh.peers;
  if (first === undefined || second === undefined) throw new Error('two machines were to be made');
  [studio, laptop] = [first, second];
});
afterEach(() => {
  mesh.remove();
});

const backupOf = (peer: Peer, name = 'backup'): string => {
  const to = mesh.git.path(name);
  cpSync(peer.store.dir, to, { recursive: true });
  return to;
};

/** The store as it was when it was backed up, in its place, as a new process finds it. */
async function restored(peer: Peer, backup: string): Promise<Peer> {
  rmSync(peer.store.dir, { recursive: true });
  cpSync(backup, peer.store.dir, { recursive: true });
  return Peer.open(mesh.git, peer.store.dir);
}

const remoteTip = (handle: string, remote = mesh.remote): string =>
  mesh.git.git(['-C', remote, 'rev-parse', `refs/heads/mesh/${handle}`]);
const seqs = (peer: Peer): number[] =>
  peer
    .git('log', '--reverse', '--format=%(trailers:key=Mesh-Seq,valueonly,separator=)', peer.store.branch)
    .split('\n')
    .map(Number);
const problemsOf = async (peer: Peer): Promise<string[]> => (await peer.status()).problems.map(({ kind }) => kind);

test('a store put back from a backup that writes before it looks puts what it wrote on top of what it had published', async () => {
  await studio.checkin('boss');
  await laptop.checkin('dev');
  await studio.send('laptop', 1);
  await settle([studio, laptop]);
  const backup = backupOf(studio);
  const after = [await studio.send('laptop', 2), await studio.send('laptop', 3)];
  await laptop.send('studio', 'for the boss');
  await settle([studio, laptop]);
  const published = studio.tip();

  const back = await restored(studio, backup);
  const numbers = [await back.send('laptop', 4), await back.send('*', 5)];
  const fork = back.tip();
  await back.sync();
  expect(await problemsOf(back)).toEqual([]);
  expect(back.git('merge-base', '--is-ancestor', published, back.store.branch)).toBe('');
  expect(seqs(back)).toEqual(seqs(back).map((_, index) => index + 1));
  expect(remoteTip('studio')).toBe(back.tip());
  expect(numbers.every((n) => n > 10_000 && !after.includes(n))).toBe(true);
  expect(back.git('for-each-ref', '--format=%(objectname)', 'refs/quarantine/')).toBe(fork);
  expect(back.git('fsck', '--strict')).toBe('');
  expect(back.git('log', '--format=%an %s', '-2', back.store.branch)).toContain('send note');

  await settle([back, laptop]);
  expect(await laptop.inbox('dev')).toEqual([1, 2, 3, 4, 5]);
  expect(await problemsOf(laptop)).toEqual([]);
  const sent = await back.api.sent({ limit: 10 }, back.call());
  expect(sent.messages.map(({ payload, state }) => [payload['n'], state]).sort()).toEqual(
    [1, 2, 3, 4, 5].map((n) => [n, 'delivered']),
  );
  const all = (await back.store.journal.view()).messages;
  expect(new Set(all.map(({ n }) => n)).size).toBe(all.length);
});

test('what was not published is not taken for delivered because the published commits were', async () => {
  await studio.send('laptop', 1);
  await settle([studio, laptop]);
  const backup = backupOf(studio);
  for (const n of [2, 3, 4, 5]) await studio.send('laptop', n);
  await settle([studio, laptop]);
  const back = await restored(studio, backup);
  await back.send('laptop', 6);
  await back.sync();
  const state = async (): Promise<string[]> =>
    (await back.api.sent({ limit: 1 }, back.call())).messages.map((message) => message.state);
  expect(await state()).toEqual(['pushed']);
  await settle([back, laptop]);
  expect(await state()).toEqual(['delivered']);
});

test('acknowledgements of before and after a backup both stand', async () => {
  await laptop.checkin('dev');
  await laptop.checkin('qa');
  await studio.send('laptop', 1);
  await settle([studio, laptop]);
  const { messages } = await laptop.api.inbox({ agent_id: 'dev' }, laptop.call());
  const ids = messages.map(({ message_id: id }) => id);
  const backup = backupOf(laptop);
  await laptop.api.ack({ agent_id: 'dev', message_ids: ids, confirm: true }, laptop.call());
  await settle([studio, laptop]);
  const back = await restored(laptop, backup);
  await back.api.ack({ agent_id: 'qa', message_ids: ids, confirm: true }, back.call());
  await settle([back, studio]);
  const [sent] = (await studio.api.sent({}, studio.call())).messages;
  expect(sent?.acks.map(({ agent }) => agent).sort()).toEqual(['dev', 'qa']);
  expect(await back.inbox('dev')).toEqual([]);
});

test('a backup that is put back twice gives no number twice', async () => {
  const backup = backupOf(studio);
  const first = await restored(studio, backup);
  const one = await first.send('laptop', 1);
  const second = await restored(first, backup);
  expect(await second.send('laptop', 2)).not.toBe(one);
});

test('foreign commits on the own branch are kept and replaced by reclaim, exactly that tip', async () => {
  await studio.send('laptop', 1);
  await settle([studio, laptop]);
  const foreign = await studio.forge({ sign: laptop });
  studio.forcePush(mesh.remote, foreign);
  await studio.send('laptop', 2);
  await studio.sync();
  expect(await problemsOf(studio)).toEqual(['own_branch_foreign']);
  expect(remoteTip('studio')).toBe(foreign);
  const result = await reclaimBranch({ ...setup(studio.store.dir), remote: 'origin' });
  expect(result).toMatchObject({ machine: 'studio', replaced: foreign, sync: { state: 'ok', error: null } });
  expect(studio.git('rev-parse', String(result.kept_as))).toBe(foreign);
  expect(remoteTip('studio')).toBe(studio.tip());
  await laptop.sync();
  expect(await laptop.accepted('studio')).toBe(studio.tip());
  const again = await reclaimBranch({ ...setup(studio.store.dir), remote: 'origin' });
  expect(again).toMatchObject({ replaced: null, kept_as: null });
});

test('a second store with the handle stops writing when it finds the first, and both keep all they have', async () => {
  const other = mesh.git.bare('other.git');
  await addRemote({ ...setup(studio.store.dir), name: 'other', url: other });
  // It knows the mesh by the other remote alone, where nobody has the handle yet.
  mesh.git.git(['-C', other, 'update-ref', '-d', 'refs/heads/mesh/laptop']);
  await joinMesh({ ...setup(mesh.git.path('second')), url: other, machine: 'laptop', hostname: 'x' });
  const second = await Peer.open(mesh.git, mesh.git.path('second'));
  await second.checkin('twin');
  const tip = second.tip();
  mesh.git.git(['-C', other, 'update-ref', '-d', 'refs/heads/mesh/laptop']);
  await second.store.editConfig((config) => ({ ...config, remotes: [{ name: 'hub', url: mesh.remote }] }));
  const found = await Peer.open(mesh.git, mesh.git.path('second'));
  await found.sync();
  expect(await problemsOf(found)).toContain('handle_conflict');
  await expect(found.send('studio', 1)).rejects.toMatchObject({
    errorName: 'handle_conflict',
    message: expect.stringContaining('--machine HANDLE --dir NEWDIR') as string,
  });
  expect(found.tip()).toBe(tip);
  await found.sync();
  expect((await found.api.agents({ include_stale: true }, found.call())).machine).toBe('laptop');
  expect(remoteTip('laptop')).toBe(laptop.tip());
  expect(await laptop.send('studio', 2)).toBeGreaterThan(0);
});

const setup = (dir: string) => ({ dir, env: process.env, logger: silentLogger });

test('a copy of a store beside it writes nothing, and says how to go on; the original goes on', async () => {
  await studio.send('laptop', 1);
  await studio.sync();
  const copy = await Peer.open(mesh.git, backupOf(studio, 'copy'));
  await expect(copy.send('laptop', 2)).rejects.toMatchObject({ errorName: 'store_copied', code: 409 });
  expect(await problemsOf(copy)).toContain('store_copied');
  await copy.sync();
  expect(copy.tip()).toBe(studio.tip());
  await studio.send('laptop', 3);
  await studio.sync();
  expect(await problemsOf(studio)).toEqual([]);
});

test('a store that was moved, or put back elsewhere after the first is gone, goes on by itself', async () => {
  await studio.send('laptop', 1);
  const moved = mesh.git.path('moved');
  renameSync(studio.store.dir, moved);
  const there = await Peer.open(mesh.git, moved);
  expect(await there.send('laptop', 2)).toBeLessThan(10_000);
  const backup = backupOf(there);
  rmSync(moved, { recursive: true });
  const back = await Peer.open(mesh.git, backup);
  expect(await back.send('laptop', 3)).toBeGreaterThan(10_000);
  await back.sync();
  expect(await problemsOf(back)).toEqual([]);
});

test('a store on another host is a copy until reclaim says otherwise', async () => {
  await studio.send('laptop', 1);
  await studio.sync();
  const file = join(studio.store.dir, 'mesh', 'place.json');
  const place = JSON.parse(readFileSync(file, 'utf8')) as { host: string | null };
  if (place.host === null) {
    expect(existsSync('/etc/machine-id') && readFileSync('/etc/machine-id', 'utf8').length > 30).toBe(false);
    return;
  }
  writeFileSync(file, JSON.stringify({ ...place, host: 'f'.repeat(32) }));
  const cloned = await Peer.open(mesh.git, studio.store.dir);
  await expect(cloned.send('laptop', 2)).rejects.toMatchObject({ errorName: 'store_copied' });
  await reclaimBranch({ ...setup(studio.store.dir), remote: 'origin' });
  const claimed = await Peer.open(mesh.git, studio.store.dir);
  expect(await claimed.send('laptop', 3)).toBeGreaterThan(10_000);
});

test('a copy pushes nothing of what waited in it, and its exchange says so', async () => {
  await studio.send('laptop', 1);
  await studio.sync();
  await studio.send('laptop', 'queued');
  const twin = await Peer.open(mesh.git, backupOf(studio, 'twin'));
  const before = twin.tip();
  await twin.sync();
  expect([twin.tip() === before, remoteTip('studio') === before]).toEqual([true, false]);
  await studio.send('laptop', 3);
  await studio.sync();
  await twin.sync();
  expect([twin.tip(), remoteTip('studio')]).toEqual([before, studio.tip()]);
  expect((await twin.facts()).remotes).toMatchObject([{ queued: 1, error: { name: 'store_copied' } }]);
});

test('commits of the own key that a running process did not make show a copy, and it stops', async () => {
  await studio.send('laptop', 1);
  await studio.sync();
  const twin = await Peer.open(mesh.git, backupOf(studio, 'twin'));
  rmSync(join(twin.store.dir, 'mesh', 'place.json'));
  await twin.send('laptop', 'from the twin');
  await twin.sync();
  await studio.send('laptop', 2);
  await studio.sync();
  expect(await problemsOf(studio)).toEqual(['store_copied']);
  await expect(studio.send('laptop', 3)).rejects.toMatchObject({ errorName: 'store_copied' });
  expect(remoteTip('studio')).toBe(studio.tip());
  await laptop.checkin('dev');
  await reclaimBranch({ ...setup(studio.store.dir), remote: 'origin' });
  await studio.send('laptop', 4);
  await settle([studio, laptop]);
  expect(laptop.git('log', '--format=%s', 'refs/heads/mesh/studio').match(/^send /gm)).toHaveLength(4);
});

test('what one remote took of a restored store is not made anew for another', async () => {
  const other = mesh.git.bare('other.git');
  await studio.send('laptop', 1);
  await studio.sync();
  const backup = backupOf(studio);
  await studio.send('laptop', 2);
  await studio.sync();
  const back = await restored(studio, backup);
  await back.send('laptop', 3);
  await back.store.editConfig((config) => ({ ...config, remotes: [{ name: 'other', url: other }] }));
  const alone = await Peer.open(mesh.git, back.store.dir);
  await alone.sync();
  const tip = alone.tip();
  expect(remoteTip('studio', other)).toBe(tip);
  await alone.store.editConfig((config) => ({
    ...config,
    remotes: [...config.remotes, { name: 'origin', url: mesh.remote }],
  }));
  const both = await Peer.open(mesh.git, back.store.dir);
  await both.sync();
  expect(both.tip()).toBe(tip);
  expect(await problemsOf(both)).toEqual(['own_branch_foreign']);
});

test('a remote that was emptied or set back gets every branch again', async () => {
  await studio.send('laptop', 1);
  await settle([studio, laptop]);
  const early = remoteTip('studio');
  await studio.send('laptop', 2);
  await settle([studio, laptop]);
  mesh.git.git(['-C', mesh.remote, 'update-ref', 'refs/heads/mesh/studio', early]);
  await studio.sync();
  expect(remoteTip('studio')).toBe(studio.tip());
  rmSync(mesh.remote, { recursive: true });
  mesh.git.bare('remote.git');
  await studio.sync();
  await laptop.sync();
  expect([remoteTip('studio'), remoteTip('laptop')]).toEqual([studio.tip(), laptop.tip()] satisfies Oid[]);
  expect([await problemsOf(studio), await problemsOf(laptop)]).toEqual([['branch_rewound', 'remote_rewound'], []]);
});
