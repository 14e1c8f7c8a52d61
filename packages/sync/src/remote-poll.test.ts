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

/** A poll of a remote that cannot be watched, and when it asked. */
function polled(pass: RemoteTurns['pass']): {
  asked: number[];
  act: () => void;
  wait: (ms: number) => void;
  end: () => Promise<void>;
} {
  const [studio] = mesh.peers as [Peer];
  const [local] = studio.remotes;
  if (local === undefined) throw new Error('there is one');
  const remote = { ...local, transport: { ...local.transport, watchable: null } };
  const asked: number[] = [];
  const began = performance.now();
  const turns: RemoteTurns = {
    pass: (...args) => {
      asked.push(performance.now() - began);
      return pass(...args);
    },
    isUnfinished: () => false,
    lacksOwnTip: () => Promise.resolve(false),
    movedThere: () => Promise.resolve(false),
    carryAt: () => Promise.resolve(null),
  };
  let active = steadyNow(studio.clock);
  let waiting = Number.NEGATIVE_INFINITY;
  const times = { lastActivityAt: () => active, waitingUntil: () => waiting };
  const poll = new RemotePoll({ mesh: studio.mesh, remote, turns, ...times, logger: silentLogger });
  return {
    asked,
    act: () => {
      active = steadyNow(studio.clock);
      poll.stir();
    },
    wait: (ms) => {
      waiting = steadyNow(studio.clock) + ms;
      poll.stir();
    },
    end: async () => {
      const ended = poll.end();
      await vi.runAllTimersAsync();
      await ended;
    },
  };
}

test.each([
  ['ahead', 3_600_000],
  ['back', -3_600_000],
])('a clock that is set %s an hour changes nothing of how often a remote is asked', async (_way, step) => {
  const { asked, end } = polled(() => {
    wall += step;
    return Promise.resolve();
  });
  await vi.advanceTimersByTimeAsync(128_000);
  // A second each for two minutes; then it slows down.
  expect(asked.slice(0, 4)).toEqual([0, 1_000, 2_000, 3_000]);
  expect(asked.slice(-4)).toEqual([120_000, 121_000, 123_000, 127_000]);
  await end();
});

test('what happens after a long silence has the remote asked within a second, and each second again', async () => {
  const { asked, act, end } = polled(() => Promise.resolve());
  await vi.advanceTimersByTimeAsync(600_000);
  const quiet = asked.slice(-2);
  expect((quiet[1] ?? 0) - (quiet[0] ?? 0)).toBe(30_000);
  await vi.advanceTimersByTimeAsync((quiet[1] ?? 0) + 5_000 - 600_000 + 30_000);
  const before = asked.length;
  act();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(asked.length - before).toBe(3);
  await end();
});

test('a second is counted from the beginning of an exchange, but half of it always passes after its end', async () => {
  let takes = 400;
  const { asked, end } = polled(() => new Promise((resolve) => setTimeout(resolve, takes)));
  await vi.advanceTimersByTimeAsync(2_900);
  expect(asked).toEqual([0, 1_000, 2_000]);
  takes = 3_000;
  await vi.advanceTimersByTimeAsync(8_000);
  expect(asked.slice(3)).toEqual([3_000, 6_500, 10_000]);
  await end();
});

test('while an agent waits a quick remote is asked more often, and a slow one no more than before', async () => {
  let takes = 20;
  const { asked, wait, end } = polled(() => new Promise((resolve) => setTimeout(resolve, takes)));
  await vi.advanceTimersByTimeAsync(100);
  wait(1_000);
  await vi.advanceTimersByTimeAsync(900);
  expect(asked).toEqual([0, 200, 400, 600, 800, 1_000]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.slice(6)).toEqual([1_200, 2_200]);
  takes = 100;
  wait(45_000);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.slice(8)).toEqual([3_000, 3_600, 4_200, 4_800]);
  takes = 400;
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.length - before).toBeLessThanOrEqual(11);
  await end();
});
