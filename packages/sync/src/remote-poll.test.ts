import { silentLogger, steadyNow } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RemotePoll } from './remote-poll.js';
import type { RemoteTurns } from './remote-poll.js';
import { remoteMesh } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

let wall: number;
let mesh: RemoteMesh;
beforeEach(async () => {
  wall = Date.now();
  mesh = await remoteMesh(['studio'], { clock: { now: () => wall } });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  mesh.remove();
});

test.each([
  ['ahead', 3_600_000],
  ['back', -3_600_000],
])('a clock that is set %s an hour changes nothing of how often a remote is asked', async (_way, step) => {
  const [studio] = mesh.peers as [Peer];
  const [local] = studio.remotes;
  if (local === undefined) throw new Error('there is one');
  const remote = { ...local, transport: { ...local.transport, watchable: null } };
  const asked: number[] = [];
  const began = performance.now();
  const turns: RemoteTurns = {
    pass: () => {
      asked.push(performance.now() - began);
      wall += step;
      return Promise.resolve();
    },
    isUnfinished: () => false,
    lacksOwnTip: () => Promise.resolve(false),
    movedThere: () => Promise.resolve(false),
    carryAt: () => Promise.resolve(null),
  };
  const active = steadyNow(studio.clock);
  const poll = new RemotePoll({ mesh: studio.mesh, remote, turns, lastActivityAt: () => active, logger: silentLogger });
  await vi.advanceTimersByTimeAsync(128_000);
  // A second each for two minutes; then it slows down.
  expect(asked.slice(0, 4)).toEqual([0, 1_000, 2_000, 3_000]);
  expect(asked.slice(-4)).toEqual([120_000, 121_000, 123_000, 127_000]);
  const ended = poll.end();
  await vi.runAllTimersAsync();
  await ended;
});
