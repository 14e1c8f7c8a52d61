import { renameSync } from 'node:fs';
import { agentKey, silentLogger } from '@git-mesh/core';
import type { AgentId, CallOptions } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenMesh } from './contract.js';
import { openMesh } from './open.js';
import { Rounds } from './rounds.js';
import { remoteMesh, settle } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';
import { Worker } from './worker.js';
import type { WorkerRounds } from './worker.js';

let mesh: RemoteMesh;
const open: OpenMesh[] = [];

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  await settle(mesh.peers);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  mesh.remove();
});

async function started(handle: string): Promise<OpenMesh> {
  const opened = await openMesh({ dir: mesh.git.path(handle), env: process.env, logger: silentLogger });
  open.push(opened);
  opened.startWorker();
  await timeUntil(() => opened.syncer.workerAlive());
  return opened;
}
const call = (opened: OpenMesh): CallOptions => ({ connection: opened.newConnection({ resident: true }) });
const send = (from: OpenMesh, to: string): Promise<unknown> => from.api.send({ to, msg_type: 'note' }, call(from));
const remoteTip = (handle: string): string | undefined =>
  mesh.git.refs(mesh.remote).get(`refs/heads/mesh/${handle}` as never);
const ownTip = (handle: string): string => mesh.git.git(['-C', mesh.git.path(handle), 'rev-parse', 'HEAD']);
/** Milliseconds until it holds. */
async function timeUntil(holds: () => boolean | Promise<boolean>): Promise<number> {
  const start = performance.now();
  await vi.waitFor(
    async () => {
      expect(await holds()).toBe(true);
    },
    { timeout: 20_000, interval: 20 },
  );
  return performance.now() - start;
}
const atRest = (): Promise<number> => timeUntil(() => remoteTip('studio') === ownTip('studio'));

test('what is stored is pushed, and what another pushed arrives, without anyone asking', async () => {
  const studio = await started('studio');
  const laptop = await started('laptop');
  await laptop.api.checkin({ agent_id: 'dev', confirm: true }, call(laptop));
  await atRest();
  for (let n = 1; n <= 3; n++) {
    await send(studio, 'laptop');
    await timeUntil(() => remoteTip('studio') === ownTip('studio'));
    await timeUntil(async () => (await laptop.api.status()).journal.entries === n);
    await timeUntil(async () => (await studio.api.sent({}, call(studio))).messages[0]?.state === 'delivered');
  }
});

test.each([
  ['the own branch', (peer: Peer) => peer.send('laptop', 1)],
  [
    'a branch of a local remote',
    (peer: Peer) => {
      const at = mesh.git.commit(mesh.remote, String(Math.random()));
      mesh.git.setRef(mesh.remote, `refs/heads/mesh/x${at.slice(0, 8)}` as never, at);
      return Promise.resolve(peer);
    },
  ],
])('a round begins at once when %s moves, long before the next poll', async (_what, move) => {
  const [studio] = mesh.peers as [Peer];
  const begun: number[] = [];
  const rounds: WorkerRounds = {
    remotes: studio.remotes,
    refresh: () => Promise.resolve(false),
    prepare: () => Promise.resolve(),
    pass: () => {
      begun.push(performance.now());
      return Promise.resolve();
    },
    isUnfinished: () => false,
    lacksOwnTip: () => Promise.resolve(true),
    movedThere: () => Promise.resolve(true),
    carryAt: () => Promise.resolve(null),
  };
  const worker = new Worker({ mesh: studio.mesh, rounds, logger: silentLogger });
  worker.start();
  const waited: number[] = [];
  try {
    for (let again = 0; again < 4; again++) {
      const before = begun.length;
      await timeUntil(() => begun.length > before);
      const rounds = begun.length;
      await move(studio);
      await timeUntil(() => begun.length > rounds);
      waited.push((begun[rounds] ?? 0) - (begun[rounds - 1] ?? 0));
    }
  } finally {
    await worker.stop();
  }
  // Polls follow a round by a second: only what woke the worker comes sooner.
  expect(Math.min(...waited)).toBeLessThan(900);
  const ended = begun.length;
  await move(studio);
  expect(begun.length).toBe(ended);
});

test('a call of an agent, of whichever process, has a quiet remote asked soon, and one that waits more often', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const [studio] = mesh.peers as [Peer];
    const asked: number[] = [];
    const rounds: WorkerRounds = {
      remotes: studio.remotes.map((remote) => ({ ...remote, transport: { ...remote.transport, watchable: null } })),
      refresh: () => Promise.resolve(false),
      prepare: () => Promise.resolve(),
      pass: () => {
        asked.push(performance.now());
        return Promise.resolve();
      },
      isUnfinished: () => false,
      lacksOwnTip: () => Promise.resolve(false),
      movedThere: () => Promise.resolve(false),
      carryAt: () => Promise.resolve(null),
    };
    const worker = new Worker({ mesh: studio.mesh, rounds, logger: silentLogger });
    worker.start();
    await vi.waitFor(() => {
      expect(asked.length).toBe(1);
    });
    await vi.advanceTimersByTimeAsync(600_000);
    expect((asked.at(-1) ?? 0) - (asked.at(-2) ?? 0)).toBe(30_000);
    const polls = asked.length;
    while (asked.length === polls) await vi.advanceTimersByTimeAsync(100);
    const quietSince = asked.at(-1) ?? 0;
    await studio.store.local.touch(agentKey('dev' as AgentId), Date.now());
    await vi.waitFor(
      () => {
        expect(asked.at(-1)).toBeGreaterThan(quietSince);
      },
      { timeout: 5_000, interval: 20 },
    );
    expect((asked.at(-1) ?? 0) - quietSince).toBeLessThan(10_000);
    await studio.store.local.putWaitingUntil(Date.now() + 45_000);
    await vi.waitFor(
      async () => {
        await vi.advanceTimersByTimeAsync(1);
        expect((asked.at(-1) ?? 0) - (asked.at(-2) ?? 0)).toBeLessThan(500);
      },
      { timeout: 5_000, interval: 20 },
    );
    const stopped = worker.stop();
    await vi.runAllTimersAsync();
    await stopped;
  } finally {
    vi.useRealTimers();
  }
});

test('an inbox that waits is woken by the arrival', async () => {
  const studio = await started('studio');
  const laptop = await started('laptop');
  await laptop.api.checkin({ agent_id: 'dev', confirm: true }, call(laptop));
  const start = performance.now();
  const waiting = laptop.api.inbox({ agent_id: 'dev', wait_seconds: 30 }, call(laptop));
  await send(studio, 'laptop');
  expect((await waiting).messages.length).toBe(1);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a worker that is stopped gives its office to the next, and pushes no more', async () => {
  const first = await started('studio');
  const second = await openMesh({ dir: mesh.git.path('studio'), env: process.env, logger: silentLogger });
  open.push(second);
  second.startWorker();
  await first.close();
  await first.close();
  await timeUntil(async () => second.syncer.workerAlive());
  await send(second, 'laptop');
  await timeUntil(() => remoteTip('studio') === ownTip('studio'));
  await second.close();
  const before = remoteTip('studio');
  const alone = await openMesh({ dir: mesh.git.path('studio'), env: process.env, logger: silentLogger });
  open.push(alone);
  expect(await alone.syncer.workerAlive()).toBe(false);
  await send(alone, 'laptop');
  expect(remoteTip('studio')).toBe(before);
  await alone.inlineSync({ deadlineMs: 10_000 });
  expect(remoteTip('studio')).toBe(ownTip('studio'));
});

test('a remote that vanishes and comes back is used again, with what was sent meanwhile', async () => {
  const studio = await started('studio');
  await atRest();
  renameSync(mesh.remote, `${mesh.remote}.away`);
  await send(studio, 'laptop');
  await timeUntil(async () => (await studio.syncer.summary()).state === 'offline');
  expect((await studio.api.status()).worker).toMatchObject({ state: 'running', pid: process.pid });
  renameSync(`${mesh.remote}.away`, mesh.remote);
  await timeUntil(() => remoteTip('studio') === ownTip('studio'));
  await timeUntil(async () => (await studio.syncer.summary()).state === 'ok');
});

test('a command beside a worker leaves the round to it', async () => {
  await started('studio');
  const command = await openMesh({ dir: mesh.git.path('studio'), env: process.env, logger: silentLogger });
  open.push(command);
  const round = vi.spyOn(command.syncer, 'round');
  await command.inlineSync({ deadlineMs: 5_000 });
  expect(round).not.toHaveBeenCalled();
});

test('what we pushed ourselves is not fetched, what another pushed is', async () => {
  const [, laptop] = mesh.peers as [Peer, Peer];
  const { store, states, clock } = laptop;
  const rounds = await Rounds.open({
    mesh: laptop.mesh,
    states,
    logger: silentLogger,
    random: () => 0.5,
    open: () => Promise.resolve(laptop.remotes),
    closed: new AbortController().signal,
  });
  const [remote] = rounds.remotes;
  if (remote === undefined) throw new Error('there is one');
  await laptop.send('studio', clock.now());
  await rounds.run({ deadlineMs: 10_000, ignoreBackoff: false });
  expect(remoteTip('laptop')).toBe(await store.refs.read(store.branch));
  expect(await rounds.movedThere(remote)).toBe(false);
  mesh.git.git(['-C', mesh.remote, 'pack-refs', '--all', '--prune']);
  expect(await rounds.movedThere(remote)).toBe(false);
  const [studio] = mesh.peers as [Peer];
  await studio.send('laptop', 1);
  await studio.sync();
  expect(await rounds.movedThere(remote)).toBe(true);
  await rounds.run({ deadlineMs: 10_000, ignoreBackoff: false });
  expect(await rounds.movedThere(remote)).toBe(false);
  mesh.git.git(['-C', mesh.remote, 'update-ref', '-d', 'refs/heads/mesh/studio']);
  expect(await rounds.movedThere(remote)).toBe(true);
  renameSync(mesh.remote, `${mesh.remote}.away`);
  expect(await rounds.movedThere(remote)).toBe(true);
});
