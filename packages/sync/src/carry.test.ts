import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { GitFixture } from './testing/git-fixture.js';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { addRemote } from './remote-add.js';
import { background, carryMs, hook, meet, pushes, remoteOf, threeInALine, tipOf } from './testing/line.js';
import type { Line } from './testing/line.js';
import { Peer } from './testing/remote-mesh.js';

let line: Line;
let git: GitFixture;
let hub1: string;
let hub2: string;
let studio: Peer;
let desk: Peer;
let laptop: Peer;

beforeEach(async () => {
  line = await threeInALine();
  ({ git, hub1, hub2, studio, desk, laptop } = line);
});
afterEach(() => {
  git.remove();
});

const tipAt = (hub: string, handle: string): string | undefined => tipOf(git, hub, handle);

test('a message crosses a machine in the middle, and its receipt and acknowledgement come back', async () => {
  await laptop.checkin('dev');
  await studio.send('laptop', 'hello');
  await studio.sync();
  await background(desk);
  line.time.now += carryMs;
  await background(desk);
  await laptop.sync();
  expect(await laptop.inbox('dev')).toEqual(['hello']);
  await background(desk);
  line.time.now += carryMs;
  await background(desk);
  await studio.sync();
  const sent = async () => (await studio.api.sent({}, studio.call())).messages[0];
  expect(await sent()).toMatchObject({ state: 'delivered', delivered_to: [{ machine: 'laptop' }] });

  const [message] = (await laptop.api.inbox({ agent_id: 'dev' }, laptop.call())).messages;
  const ids = [message?.message_id];
  await laptop.api.ack({ agent_id: 'dev', message_ids: ids, confirm: true }, laptop.call());
  await laptop.sync();
  await background(desk);
  line.time.now += carryMs;
  await background(desk);
  await studio.sync();
  expect(await sent()).toMatchObject({ state: 'acked', acks: [{ machine: 'laptop', agent: 'dev' }] });
  for (const hub of [hub1, hub2]) expect(git.git(['-C', hub, 'fsck', '--strict', '--no-dangling'])).toBe('');
});

test('a branch is carried only once its owner has had the time to bring it there', async () => {
  await studio.send('*', 1);
  await studio.sync();
  const before = tipAt(hub2, 'studio');
  await background(desk);
  line.time.now += carryMs - 1;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(before);
  // Another message meanwhile does not put it off.
  await studio.send('*', 2);
  await studio.sync();
  await background(desk);
  line.time.now += 1;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
  // The next one has its own time.
  await studio.send('*', 3);
  await studio.sync();
  await background(desk);
  expect(tipAt(hub2, 'studio')).not.toBe(studio.tip());
});

test('the time counts on in the next process, and a clock that was put back holds nothing up', async () => {
  await studio.send('*', 1);
  await studio.sync();
  await background(desk);
  line.time.now += carryMs;
  const next = await Peer.open(git, desk.store.dir, { clock: line.clock });
  await background(next);
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
  await studio.send('*', 2);
  await studio.sync();
  await background(next);
  line.time.now -= 48 * 3_600_000;
  await background(next);
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
});

test('a person who asks does not wait, nor need to ask twice', async () => {
  await laptop.send('studio', 1);
  await laptop.sync();
  await studio.send('*', 2);
  await studio.sync();
  await desk.sync();
  expect(tipAt(hub1, 'laptop')).toBe(laptop.tip());
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
});

test('what is brought by its owner is not carried', async () => {
  await addRemote({ dir: studio.store.dir, env: process.env, logger: silentLogger, name: 'second', url: hub2 });
  const both = await Peer.open(git, studio.store.dir, { clock: line.clock });
  const opened = meet(desk, 'second');
  await both.send('laptop', 1);
  const [origin] = both.remotes;
  if (origin === undefined) throw new Error('there are two');
  both.remotes.splice(0, 2, origin);
  await both.sync();
  await background(desk);
  const again = await Peer.open(git, studio.store.dir, { clock: line.clock });
  await again.sync();
  line.time.now += carryMs;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
  expect(pushes(opened)).toBe(0);
});

test('several branches go in one push of their own, after the own branch, each with exactly what is new', async () => {
  await joinMesh({
    dir: git.path('tower'),
    env: process.env,
    logger: silentLogger,
    machine: 'tower',
    hostname: 'x',
    url: hub1,
  });
  await studio.send('*', 1);
  await studio.sync();
  await background(desk);
  line.time.now += carryMs;
  await desk.send('laptop', 2);
  const opened = meet(desk, 'second');
  const pack = vi.spyOn(desk.store.objects, 'pack');
  const before = tipAt(hub2, 'studio') ?? '';
  const own = tipAt(hub2, 'desk') ?? '';
  await background(desk);
  expect(pushes(opened)).toBe(2);
  const listed = (...revisions: string[]): Set<string | undefined> =>
    new Set(desk.git('rev-list', '--objects', ...revisions).split('\n').map((line) => line.split(' ')[0])); // prettier-ignore
  // The own branch went to both hubs.
  const packs = pack.mock.calls.map(([oids]) => new Set(oids));
  expect(packs).toContainEqual(listed(`${own}..${desk.tip()}`));
  expect(packs).toContainEqual(listed(studio.tip(), 'refs/heads/mesh/tower', `^${before}`));
  for (const handle of ['studio', 'tower', 'desk']) expect(tipAt(hub2, handle)).toBe(await desk.accepted(handle));
});

test('a refusal of a carried branch is no error, and is not repeated in a storm; a person tries again', async () => {
  hook(hub2, 'update', 'echo "$1" >> asked; case "$1" in */studio) echo "not yours" >&2; exit 1;; esac');
  const asked = (): number =>
    existsSync(join(hub2, 'asked')) ? (readFileSync(join(hub2, 'asked'), 'utf8').match(/studio/g) ?? []).length : 0;
  await studio.send('*', 1);
  await studio.sync();
  await background(desk);
  line.time.now += carryMs;
  await desk.send('laptop', 'own');
  await background(desk);
  expect(asked()).toBe(1);
  expect(await remoteOf(desk, 'second')).toMatchObject({ state: 'ok', error: null, queued: 0 });
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
  for (let round = 0; round < 5; round++) {
    line.time.now += 8_000;
    await studio.send('*', `more ${round}`);
    await studio.sync();
    await background(desk);
  }
  expect(asked()).toBe(1);
  line.time.now += 5_000;
  await background(desk);
  expect(asked()).toBe(2);
  line.time.now += 60_000;
  await background(desk);
  expect(asked()).toBe(2);
  rmSync(join(hub2, 'hooks', 'update'));
  await desk.sync();
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
});

test('nothing is ever forced: a branch that was rewritten on one remote stays as it is there', async () => {
  const fork = await studio.forge({ parents: [], seq: 1, sign: laptop });
  studio.forcePush(hub2, fork);
  await studio.send('*', 1);
  await studio.sync();
  await desk.sync();
  line.time.now += 100_000;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(fork);
  expect((await desk.facts()).problems.map(({ machine }) => machine)).toEqual(['studio']);
});

test('what is not accepted is not carried', async () => {
  const accepted = studio.tip();
  const foreign = await studio.forge({ sign: laptop });
  studio.forcePush(hub1, foreign);
  await desk.sync();
  line.time.now += 100_000;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(accepted);
});

test('a remote that was emptied gets the charter and every branch again, and another mesh gets nothing', async () => {
  rmSync(hub2, { recursive: true });
  git.bare('hub2.git');
  await background(desk);
  expect(tipAt(hub2, '_charter')).toBe(tipAt(hub1, '_charter'));
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
  expect(tipAt(hub2, 'studio')).toBeUndefined();
  line.time.now += carryMs;
  await background(desk);
  for (const handle of ['studio', 'laptop']) expect(tipAt(hub2, handle)).toBe(await desk.accepted(handle));

  rmSync(hub2, { recursive: true });
  git.bare('hub2.git');
  const options = { dir: git.path('alien'), env: process.env, logger: silentLogger, hostname: 'alien' };
  await initMesh({ ...options, remote: hub2 });
  const before = git.refs(hub2);
  await desk.sync();
  line.time.now += 100_000;
  await background(desk);
  expect(git.refs(hub2)).toEqual(before);
  expect(await remoteOf(desk, 'second')).toMatchObject({ error: { name: 'different_mesh' } });
  expect(await remoteOf(desk, 'origin')).toMatchObject({ state: 'ok' });
});

test('a quiet line makes no commit, no push and no lock', async () => {
  line.time.now += 100_000;
  await background(desk);
  const tips = (): (Oid | string | undefined)[] => [
    desk.tip(),
    ...[hub1, hub2].flatMap((hub) => [...git.refs(hub).values()]),
  ];
  const before = tips();
  const opened = [meet(desk, 'origin'), meet(desk, 'second')];
  const lock = vi.spyOn(desk.store, 'withLock');
  for (let round = 0; round < 3; round++) {
    line.time.now += 40_000;
    await background(desk);
  }
  expect(tips()).toEqual(before);
  expect(opened.map(pushes)).toEqual([0, 0]);
  expect(lock).not.toHaveBeenCalled();
});
