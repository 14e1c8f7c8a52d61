import { expect, test } from 'vitest';
import { isAlive } from '../domain/presence.js';
import { decodePresence } from '../domain/presence-record.js';
import { housekeeping } from './housekeeping.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio } = meshForEach('studio');

const tickMs = 5_000;

/** True where whoever reads the branch at this moment sees the agent alive. */
async function seenAlive(): Promise<boolean> {
  const branch = await studio.ctx.branches.ownBranch();
  const blob = await studio.ctx.branches.file(branch, 'presence/boss.yaml');
  if (blob === null) return false;
  return isAlive(decodePresence(await studio.ctx.branches.read(blob)), mesh.clock.now());
}

interface Run {
  ttlSeconds: number;
  forMs: number;
  /** The time to the next call, from the time of the last. */
  nextCall: (n: number) => number;
}

/** Plays hours of worker ticks and calls; gives the number of commits beyond the check-in. */
async function play({ ttlSeconds, forMs, nextCall }: Run): Promise<number> {
  await studio.checkin('boss', { ttl_seconds: ttlSeconds });
  const before = (await studio.subjects()).length;
  const start = mesh.clock.now();
  let lastCall = start;
  let calls = 0;
  let callAt = start + nextCall(calls);
  for (let tickAt = start + tickMs; tickAt <= start + forMs; tickAt += tickMs) {
    while (callAt <= tickAt) {
      mesh.clock.set(callAt);
      if (callAt - lastCall < ttlSeconds * 1000) expect(await seenAlive(), `before call ${calls}`).toBe(true);
      await studio.api.agents({ agent_id: 'boss' }, studio.call());
      lastCall = callAt;
      expect(await seenAlive(), `after call ${calls}`).toBe(true);
      calls += 1;
      callAt += nextCall(calls);
    }
    mesh.clock.set(tickAt);
    if (tickAt - lastCall < ttlSeconds * 1000) {
      expect(await seenAlive(), `at ${(tickAt - start) / 1000} s, silent for ${(tickAt - lastCall) / 1000} s`).toBe(
        true,
      );
    }
    await housekeeping(studio.ctx);
  }
  return (await studio.subjects()).length - before;
}

test('an idle agent makes no commit in two days but the one that ends it', async () => {
  await studio.checkin('boss', { ttl_seconds: 3600 });
  for (let minute = 0; minute < 2 * 24 * 60; minute += 10) {
    mesh.clock.advance(600_000);
    await housekeeping(studio.ctx);
  }
  expect(await studio.subjects()).toEqual(['join studio', 'checkin boss', 'prune 1 presence record']);
});

test.each([60, 61, 79, 80, 100, 300])(
  'with a ttl of %i s a busy agent is never seen dead, with few commits',
  async (ttl) => {
    const forMs = 30 * 60_000;
    const commits = await play({ ttlSeconds: ttl, forMs, nextCall: () => 7_001 });
    // Due once less than max(20 s, ttl/4) is left: never sooner than two thirds of the ttl after the call it tells of.
    expect(commits).toBeLessThanOrEqual(Math.ceil(forMs / (ttl * 1000 * (2 / 3) - 7_001)));
    expect(commits).toBeGreaterThanOrEqual(Math.floor(forMs / (ttl * 1000)));
  },
);

test.each([3600, 86_400])('with a ttl of %i s as well, over ten lives', async (ttl) => {
  await studio.checkin('boss', { ttl_seconds: ttl });
  const before = (await studio.subjects()).length;
  const step = (ttl * 1000) / 60;
  for (let at = 0; at < 600; at++) {
    mesh.clock.advance(step);
    await studio.api.agents({ agent_id: 'boss' }, studio.call());
    await housekeeping(studio.ctx);
    expect(await seenAlive()).toBe(true);
  }
  expect((await studio.subjects()).length - before).toBeLessThanOrEqual(14);
});

test.each([60, 90, 600])(
  'with a ttl of %i s a call in the last second of the silence it can afford is in time',
  async (ttl) => {
    const commits = await play({ ttlSeconds: ttl, forMs: ttl * 1000 * 12, nextCall: () => ttl * 1000 - 1 });
    expect(commits).toBeLessThanOrEqual(12);
  },
);

test('calls at any moment of the ttl are in time', async () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const commits = await play({ ttlSeconds: 60, forMs: 60 * 60_000, nextCall: () => Math.floor(1 + random() * 59_900) });
  expect(commits).toBeLessThanOrEqual(120);
});

test('a call after the silence was too long revives nobody', async () => {
  await studio.checkin('boss', { ttl_seconds: 60 });
  mesh.clock.advance(60_000);
  await studio.api.agents({ agent_id: 'boss' }, studio.call());
  await housekeeping(studio.ctx);
  expect(await seenAlive()).toBe(false);
  expect((await studio.subjects()).length).toBe(2);
});

test('a call over a connection keeps those alive that checked in over it', async () => {
  const call = studio.call();
  await studio.checkin('boss', { ttl_seconds: 60 }, call);
  for (let at = 0; at < 24; at++) {
    mesh.clock.advance(tickMs);
    if (at % 2 === 0) await studio.api.agents({}, call);
    await housekeeping(studio.ctx);
    expect(await seenAlive()).toBe(true);
  }
});
