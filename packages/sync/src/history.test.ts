import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchHistory } from './history.js';
import type { HistoryFetched } from './history.js';
import { joinMesh } from './join.js';
import { exported, imported } from './testing/bundle-mesh.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';
import type { Transport } from './transport/port.js';
import { wholeHistory } from './whole-history.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;

// One mesh for all, which each test's new machine joins under a name of its own; what spoils it stands last.
beforeAll(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  // Two were asked for.
  [studio, laptop] = mesh.peers as [Peer, Peer];
  await laptop.checkin('qa');
  for (let n = 0; n < 12; n++) await studio.send('laptop', n);
  await settle(mesh.peers);
});

afterAll(() => {
  mesh.remove();
});

let joined = 0;

/** A machine that joins the mesh as if it were a long one. */
async function joinLate(options: { historyUpTo?: number } = {}): Promise<Peer> {
  joined += 1;
  const machine = `late-${joined}`;
  const setup = { dir: mesh.git.path(machine), env: process.env, logger: silentLogger, hostname: machine, machine };
  await joinMesh({ ...setup, url: mesh.remote, historyUpTo: 0, ...options });
  return Peer.open(mesh.git, setup.dir);
}

const countAt = (peer: Peer, handle: string): number =>
  Number(peer.git('rev-list', '--count', `refs/heads/mesh/${handle}`));

async function historyOf(peer: Peer, commitsAtOnce = 10_000): Promise<HistoryFetched> {
  const [remote] = peer.remotes;
  if (remote === undefined) throw new Error('it has a remote');
  const { signal } = new AbortController();
  return fetchHistory({ mesh: peer.mesh, remote, signal, logger: silentLogger }, { commitsAtOnce });
}

const isSound = (peer: Peer): string => peer.git('fsck', '--strict', '--no-dangling', '--no-progress');
const isShallow = (peer: Peer): boolean => existsSync(join(peer.store.dir, 'shallow'));

async function logOf(peer: Peer): Promise<{ events: number; cut: string[] }> {
  const cut: string[] = [];
  let events = 0;
  for await (const _event of peer.api.log({}, { onEdge: ({ machine }) => void cut.push(machine) })) events += 1;
  return { events, cut: cut.sort() };
}

test('joining a long mesh fetches what its tips show and no commit before them, and all works from there on', async () => {
  const late = await joinLate();
  expect(['studio', 'laptop'].map((handle) => countAt(late, handle))).toEqual([1, 1]);
  expect(late.git('rev-parse', 'refs/heads/mesh/studio')).toBe(studio.tip());
  expect(isSound(late)).toBe('');
  const older = countAt(studio, 'studio') + countAt(studio, 'laptop') - 2;
  expect(await late.status()).toMatchObject({
    problems: [],
    history: { older_commits: older, machines: ['laptop', 'studio'] },
  });
  expect(await late.api.doctor()).toMatchObject({ ok: true, history: { older_commits: older } });
  expect((await logOf(late)).cut).toEqual(['laptop', 'studio']);

  await late.checkin('boss');
  await settle([...mesh.peers, late]);
  await studio.send(late.handle, 'to the new one');
  await late.send('laptop', 'from the new one');
  await settle([...mesh.peers, late]);
  expect(await late.inbox('boss')).toEqual(['to the new one']);
  expect(await laptop.inbox('qa')).toContain('from the new one');
  const sent = await studio.api.sent({ limit: 1 }, studio.call());
  expect(sent.messages[0]).toMatchObject({ state: 'delivered' });
  expect(countAt(late, 'studio')).toBeGreaterThan(1);
  expect(await late.accepted('studio')).toBe(studio.tip());
  expect((await late.status()).problems).toEqual([]);
  expect(isSound(late)).toBe('');
});

test('a mesh with few commits has its whole history on every machine', async () => {
  const late = await joinLate({ historyUpTo: 1_000 });
  expect(isShallow(late)).toBe(false);
  expect(countAt(late, 'studio')).toBe(countAt(studio, 'studio'));
  expect(await late.status()).not.toHaveProperty('history');
  expect((await logOf(late)).cut).toEqual([]);
});

test('what comes back from the older history is fetched, although the remote’s tip had it once', async () => {
  await studio.api.checkin({ agent_id: 'boss', status: 'before', confirm: true }, studio.call());
  const then = studio.git('rev-parse', `${studio.store.branch}^{tree}`) as Oid;
  await studio.api.checkin({ agent_id: 'boss', status: 'after', confirm: true }, studio.call());
  await studio.sync();
  const late = await joinLate();
  const again = await studio.forge({ tree: then });
  studio.git('update-ref', studio.store.branch, again);
  await studio.sync();
  // With bitmaps, as git gc makes them, git leaves out exactly what a reader of the whole history would have.
  mesh.git.git(['-C', mesh.remote, 'repack', '-adbq']);
  await late.sync();
  expect(await late.accepted('studio')).toBe(again);
  expect((await late.status()).problems).toEqual([]);
  expect(isSound(late)).toBe('');
});

test('all of the history comes on demand, in steps that each last', async () => {
  const late = await joinLate();
  const [remote] = late.remotes;
  if (remote === undefined) throw new Error('it has a remote');
  const real = remote.transport;
  let opened = 0;
  const broken: Transport = {
    watchable: null,
    open: (service, options) => {
      opened += 1;
      if (opened > 2) return Promise.reject(new Error('killed'));
      return real.open(service, options);
    },
  };
  const { signal } = new AbortController();
  const ctx = { mesh: late.mesh, remote: { ...remote, transport: broken }, signal, logger: silentLogger };
  await expect(fetchHistory(ctx, { commitsAtOnce: 6 })).rejects.toThrow('killed');
  expect(countAt(late, 'studio')).toBeGreaterThan(1);
  expect(countAt(late, 'studio')).toBeLessThan(countAt(studio, 'studio'));
  expect(isSound(late)).toBe('');

  const rest = await historyOf(late, 6);
  expect(rest.problems).toEqual([]);
  expect(countAt(late, 'studio')).toBe(countAt(studio, 'studio'));
  expect(isShallow(late)).toBe(false);
  expect(isSound(late)).toBe('');
  expect((await logOf(late)).cut).toEqual([]);
  expect(await historyOf(late)).toEqual({ fetched: 0, problems: [] });
});

test('stock git gets the rest too, and the store is whole after it', async () => {
  const late = await joinLate();
  late.git('fetch', '--quiet', '--unshallow', mesh.remote, '+refs/heads/mesh/*:refs/remotes/origin/mesh/*');
  expect(await late.status()).not.toHaveProperty('history');
  expect(countAt(late, 'studio')).toBe(countAt(studio, 'studio'));
  await studio.send(late.handle, 1);
  await settle([...mesh.peers, late]);
  expect(await late.accepted('studio')).toBe(studio.tip());
  expect((await late.status()).problems).toEqual([]);
  expect(isSound(late)).toBe('');
});

test('another remote gets the own branch and what is whole; the rest is no error, and follows once it is here', async () => {
  const late = await joinLate();
  const other = mesh.git.bare('other.git');
  const remotes = [...late.store.config.remotes, { name: 'other', url: other }];
  await late.store.saveConfig({ ...late.store.config, remotes });
  const both = await Peer.open(mesh.git, late.store.dir);
  await both.sync();
  const there = (): string[] => [...mesh.git.refs(other).keys()];
  expect(there()).toContain(`refs/heads/mesh/${late.handle}`);
  expect(there()).not.toContain('refs/heads/mesh/studio');
  expect(await both.status()).toMatchObject({ problems: [], remotes: [{ state: 'ok' }, { state: 'ok' }] });
  await historyOf(both);
  await both.sync();
  expect(there()).toContain('refs/heads/mesh/studio');
  expect(mesh.git.git(['-C', other, 'fsck', '--strict'])).toBe('');
});

test('a remote that has an older tip than all that is here is behind, and was not rewritten', async () => {
  const older = mesh.git.bare('older.git');
  const before = studio.git('rev-parse', `${studio.store.branch}~5`);
  studio.git('push', '--quiet', older, `${before}:${studio.store.branch}`, 'refs/heads/mesh/_charter');
  const late = await joinLate();
  const remotes = [...late.store.config.remotes, { name: 'older', url: older }];
  await late.store.saveConfig({ ...late.store.config, remotes });
  const both = await Peer.open(mesh.git, late.store.dir);
  await both.sync();
  expect((await both.status()).problems).toEqual([]);
  expect(await both.accepted('studio')).toBe(studio.tip());
  expect(isSound(both)).toBe('');
});

test('an edge whose commits never came, as a kill leaves it, is in nobody’s way', async () => {
  const late = await joinLate();
  await late.store.objects.moveEdges({ add: ['e'.repeat(40) as Oid] });
  await studio.send(late.handle, 1);
  await studio.sync();
  await late.sync();
  expect(await late.accepted('studio')).toBe(studio.tip());
  expect(isSound(late)).toBe('');
  expect((await historyOf(late)).problems).toEqual([]);
  expect(await late.status()).not.toHaveProperty('history');
});

test('a bundle of a history that is not here is refused with the way to get it; what is new since one goes out', async () => {
  const late = await joinLate();
  await expect(exported(mesh.git, late)).rejects.toMatchObject({
    errorName: 'history_incomplete',
    message: expect.stringContaining('sync --history') as string,
  });
  await historyOf(late);
  const { file } = await exported(mesh.git, late);
  mesh.git.git(['-C', mesh.remote, 'bundle', 'verify', '--quiet', file]);
});

test('a bundle can bring the older history', async () => {
  const late = await joinLate();
  const { file } = await exported(mesh.git, studio);
  await imported(late, file);
  expect(isShallow(late)).toBe(false);
  expect(countAt(late, 'laptop')).toBe(countAt(laptop, 'laptop'));
  expect(isSound(late)).toBe('');
});

test('a remote that knows no parts of a history gives all of it', async () => {
  const late = await joinLate();
  const [remote] = late.remotes;
  if (remote === undefined) throw new Error('it has a remote');
  const real = remote.transport;
  const dumb: Transport = {
    watchable: null,
    open: async (service, options) => {
      const exchange = await real.open(service, options);
      const capabilities = new Set(
        [...exchange.advertised.capabilities].filter((name) => !/shallow|deepen/.test(name)),
      );
      return {
        advertised: { ...exchange.advertised, capabilities },
        post: (body) => exchange.post(body),
        close: () => exchange.close(),
      };
    },
  };
  remote.transport = dumb;
  await studio.send(late.handle, 1);
  await studio.sync();
  await late.sync();
  expect(await late.accepted('studio')).toBe(studio.tip());
  const result = await wholeHistory(late.mesh, late.remotes, {});
  expect(result).toMatchObject({ complete: true, problems: [] });
  expect(countAt(late, 'studio')).toBe(countAt(studio, 'studio'));
  expect(isSound(late)).toBe('');
});

test('a remote that fails is told, and what is missing stays named', async () => {
  const late = await joinLate();
  const [remote] = late.remotes;
  if (remote === undefined) throw new Error('it has a remote');
  mesh.git.git(['-C', mesh.remote, 'update-ref', '-d', 'refs/heads/mesh/laptop']);
  const result = await wholeHistory(late.mesh, late.remotes, {});
  expect(result).toMatchObject({
    complete: false,
    history: { machines: ['laptop'] },
    problems: [{ kind: 'history_incomplete', machine: 'laptop' }],
  });
  // Its machine brings it there again.
  await settle(mesh.peers);
});

test('an older commit that its machine did not sign is reported, and ends the history above it', async () => {
  const bad = await studio.forge({ sign: false });
  studio.git('update-ref', studio.store.branch, bad);
  for (let n = 0; n < 3; n++) await studio.send('laptop', n);
  await studio.sync();
  const late = await joinLate();
  const { problems } = await historyOf(late, 2);
  expect(problems).toMatchObject([{ kind: 'unsigned', machine: 'studio' }]);
  expect(late.git('rev-list', 'refs/heads/mesh/studio').split('\n')).not.toContain(bad);
  expect(countAt(late, 'studio')).toBe(3);
  expect(countAt(late, 'laptop')).toBe(countAt(laptop, 'laptop'));
  expect(isSound(late)).toBe('');
  expect((await logOf(late)).cut).toEqual(['studio']);
  expect((await historyOf(late)).problems).toMatchObject([{ kind: 'unsigned', machine: 'studio' }]);
  expect(countAt(late, 'studio')).toBe(3);
});
