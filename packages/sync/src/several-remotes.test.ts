import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, silentLogger } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { joinMesh } from './join.js';
import { initMesh } from './init.js';
import { addRemote } from './remote-add.js';
import { GitFixture } from './testing/git-fixture.js';
import { Peer } from './testing/remote-mesh.js';
import type { Service, Transport } from './transport/port.js';

/** Three machines in a line: studio – hub1 – desk – hub2 – laptop. */
let git: GitFixture;
let hub1: string;
let hub2: string;
let studio: Peer;
let desk: Peer;
let laptop: Peer;
let now: number;

/** Half of the way between 5 and 30 s, as a random 0.5 draws it. */
const carryMs = 17_500;

beforeEach(async () => {
  git = new GitFixture();
  now = Date.now();
  [hub1, hub2] = [git.bare('hub1.git'), git.bare('hub2.git')];
  const setup = (machine: string) => ({
    dir: git.path(machine),
    env: process.env,
    logger: silentLogger,
    machine,
    hostname: machine,
  });
  const clock = { now: () => now };
  const open = (machine: string): Promise<Peer> => Peer.open(git, git.path(machine), { clock });
  await initMesh({ ...setup('studio'), remote: hub1 });
  await joinMesh({ ...setup('desk'), url: hub1 });
  await addRemote({ ...setup('desk'), name: 'second', url: hub2 });
  await joinMesh({ ...setup('laptop'), url: hub2 });
  [studio, desk, laptop] = [await open('studio'), await open('desk'), await open('laptop')];
  // Commits and journals of the set-up are of real time.
  now = Date.now() + 1000;
  await desk.sync();
  await studio.sync();
  await laptop.sync();
  await desk.sync();
});
afterEach(() => {
  git.remove();
});

const tipAt = (hub: string, handle: string): string | undefined =>
  git.refs(hub).get(`refs/heads/mesh/${handle}` as never);
const background = (peer: Peer): Promise<void> => peer.sync({ ignoreBackoff: false });
const remoteOf = async (peer: Peer, name: string): Promise<unknown> =>
  (await peer.facts()).remotes.find((remote) => remote.name === name);
/** Counts what is opened of each remote, and lets a test stand in its way. */
function meet(peer: Peer, name: string, instead?: (service: Service, signal: AbortSignal) => Promise<never> | null) {
  const opened: Service[] = [];
  const at = peer.remotes.findIndex((remote) => remote.name === name);
  const remote = peer.remotes[at];
  if (remote === undefined) throw new Error(`no remote ${name}`);
  const transport: Transport = {
    watchable: remote.transport.watchable,
    open: (service, options) => {
      opened.push(service);
      return instead?.(service, options.signal) ?? remote.transport.open(service, options);
    },
  };
  peer.remotes[at] = { ...remote, transport };
  return opened;
}
const pushes = (opened: readonly Service[]): number =>
  opened.filter((service) => service === 'git-receive-pack').length;
function hook(hub: string, name: string, script: string): void {
  const file = join(hub, 'hooks', name);
  mkdirSync(join(hub, 'hooks'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

test('a message crosses a machine in the middle, and its receipt and acknowledgement come back', async () => {
  await laptop.checkin('dev');
  await studio.send('laptop', 'hello');
  await studio.sync();
  await background(desk);
  now += carryMs;
  await background(desk);
  await laptop.sync();
  expect(await laptop.inbox('dev')).toEqual(['hello']);
  await background(desk);
  now += carryMs;
  await background(desk);
  await studio.sync();
  const sent = async () => (await studio.api.sent({}, studio.call())).messages[0];
  expect(await sent()).toMatchObject({ state: 'delivered', delivered_to: [{ machine: 'laptop' }] });

  const [message] = (await laptop.api.inbox({ agent_id: 'dev' }, laptop.call())).messages;
  const ids = [message?.message_id];
  await laptop.api.ack({ agent_id: 'dev', message_ids: ids, confirm: true }, laptop.call());
  await laptop.sync();
  await background(desk);
  now += carryMs;
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
  now += carryMs - 1;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(before);
  // Another message meanwhile does not put it off.
  await studio.send('*', 2);
  await studio.sync();
  await background(desk);
  now += 1;
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
  now += carryMs;
  const next = await Peer.open(git, desk.store.dir, { clock: { now: () => now } });
  await background(next);
  expect(tipAt(hub2, 'studio')).toBe(studio.tip());
  await studio.send('*', 2);
  await studio.sync();
  await background(next);
  now -= 48 * 3_600_000;
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
  const both = await Peer.open(git, studio.store.dir, { clock: { now: () => now } });
  const opened = meet(desk, 'second');
  await both.send('laptop', 1);
  const [origin] = both.remotes;
  if (origin === undefined) throw new Error('there are two');
  both.remotes.splice(0, 2, origin);
  await both.sync();
  await background(desk);
  const again = await Peer.open(git, studio.store.dir, { clock: { now: () => now } });
  await again.sync();
  now += carryMs;
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
  now += carryMs;
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
  now += carryMs;
  await desk.send('laptop', 'own');
  await background(desk);
  expect(asked()).toBe(1);
  expect(await remoteOf(desk, 'second')).toMatchObject({ state: 'ok', error: null, queued: 0 });
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
  for (let round = 0; round < 5; round++) {
    now += 8_000;
    await studio.send('*', `more ${round}`);
    await studio.sync();
    await background(desk);
  }
  expect(asked()).toBe(1);
  now += 5_000;
  await background(desk);
  expect(asked()).toBe(2);
  now += 60_000;
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
  now += 100_000;
  await background(desk);
  expect(tipAt(hub2, 'studio')).toBe(fork);
  expect((await desk.facts()).problems.map(({ machine }) => machine)).toEqual(['studio']);
});

test('what is not accepted is not carried', async () => {
  const accepted = studio.tip();
  const foreign = await studio.forge({ sign: laptop });
  studio.forcePush(hub1, foreign);
  await desk.sync();
  now += 100_000;
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
  now += carryMs;
  await background(desk);
  for (const handle of ['studio', 'laptop']) expect(tipAt(hub2, handle)).toBe(await desk.accepted(handle));

  rmSync(hub2, { recursive: true });
  git.bare('hub2.git');
  const options = { dir: git.path('alien'), env: process.env, logger: silentLogger, hostname: 'alien' };
  await initMesh({ ...options, remote: hub2 });
  const before = git.refs(hub2);
  await desk.sync();
  now += 100_000;
  await background(desk);
  expect(git.refs(hub2)).toEqual(before);
  expect(await remoteOf(desk, 'second')).toMatchObject({ error: { name: 'different_mesh' } });
  expect(await remoteOf(desk, 'origin')).toMatchObject({ state: 'ok' });
});

test('a remote that hangs keeps nothing from the others: they are fetched, journaled and pushed meanwhile', async () => {
  await desk.checkin('qa');
  await desk.sync();
  await studio.send('desk', 'while it hangs');
  await studio.sync();
  const stop = new AbortController();
  meet(
    desk,
    'second',
    (_service, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new MeshError('deadline', 'given up'));
        });
      }),
  );
  let ended = false;
  const running = desk.sync({ signal: stop.signal }).then(() => (ended = true));
  await vi.waitFor(() => {
    expect(tipAt(hub1, 'desk')).toBe(desk.tip());
    expect(desk.git('log', '-1', '--format=%s', desk.store.branch)).toMatch(/^receipt/);
  });
  expect(await desk.inbox('qa')).toEqual(['while it hangs']);
  expect(ended).toBe(false);
  stop.abort();
  await running;
});

test('a receipt goes out to every remote in the round that states it', async () => {
  await studio.send('desk', 1);
  await studio.sync();
  for (let round = 0; round < 3; round++) {
    await background(desk);
    expect([tipAt(hub1, 'desk'), tipAt(hub2, 'desk')]).toEqual([desk.tip(), desk.tip()]);
    await studio.send('desk', round);
    await studio.sync();
  }
});

test('a server that asks to be left alone is, for as long as it says, and no longer than an hour', async () => {
  let waitMs = 120_000;
  const opened = meet(desk, 'second', () =>
    Promise.reject(new MeshError('unreachable', 'too many requests', { data: { retry_after_ms: waitMs } })),
  );
  await background(desk);
  expect(opened.length).toBe(1);
  expect(await remoteOf(desk, 'second')).toMatchObject({ next_try_at: new Date(now + waitMs).toISOString() });
  now += waitMs - 1;
  await background(desk);
  expect(opened.length).toBe(1);
  now += 1;
  waitMs = 86_400_000;
  await background(desk);
  expect(opened.length).toBe(2);
  expect(await remoteOf(desk, 'second')).toMatchObject({ next_try_at: new Date(now + 3_600_000).toISOString() });
  // The clock was an hour and more ahead.
  now -= 3_700_000;
  await background(desk);
  expect(opened.length).toBe(3);
  await background(desk);
  expect(opened.length).toBe(3);
  // A person asks all the same.
  await desk.sync();
  expect(opened.length).toBe(4);
});

test('a refused push is tried again when there is more to push, and else later and later', async () => {
  hook(hub2, 'pre-receive', 'echo refused >> asked; exit 1');
  const asked = (): number => (readFileSync(join(hub2, 'asked'), 'utf8').match(/refused/g) ?? []).length;
  await desk.send('laptop', 1);
  await background(desk);
  expect(asked()).toBe(1);
  await background(desk);
  expect(asked()).toBe(1);
  await desk.send('laptop', 2);
  await background(desk);
  expect(asked()).toBe(2);
  for (let hour = 0; hour < 60; hour++) {
    now += 60_000;
    await background(desk);
  }
  // Each minute for an hour: 2, 3… minutes apart in the end.
  expect(asked()).toBeLessThan(18);
  rmSync(join(hub2, 'hooks', 'pre-receive'));
  await desk.sync();
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
});

test('what waited for days is brought in one push', async () => {
  renameSync(hub2, `${hub2}.away`);
  for (let day = 0; day < 20; day++) {
    await desk.send('laptop', day);
    await background(desk);
    now += 3 * 3_600_000;
  }
  renameSync(`${hub2}.away`, hub2);
  const opened = meet(desk, 'second');
  await background(desk);
  expect(opened).toEqual(['git-upload-pack', 'git-receive-pack']);
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
  expect(await remoteOf(desk, 'second')).toMatchObject({ state: 'ok', queued: 0 });
});

test('a quiet line makes no commit, no push and no lock', async () => {
  now += 100_000;
  await background(desk);
  const tips = (): (Oid | string | undefined)[] => [
    desk.tip(),
    ...[hub1, hub2].flatMap((hub) => [...git.refs(hub).values()]),
  ];
  const before = tips();
  const opened = [meet(desk, 'origin'), meet(desk, 'second')];
  const lock = vi.spyOn(desk.store, 'withLock');
  for (let round = 0; round < 3; round++) {
    now += 40_000;
    await background(desk);
  }
  expect(tips()).toEqual(before);
  expect(opened.map(pushes)).toEqual([0, 0]);
  expect(lock).not.toHaveBeenCalled();
});
