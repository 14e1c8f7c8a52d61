import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { GitFixture } from './testing/git-fixture.js';
import { background, hook, meet, remoteOf, threeInALine, tipOf } from './testing/line.js';
import type { Line } from './testing/line.js';
import type { Peer } from './testing/remote-mesh.js';

let line: Line;
let git: GitFixture;
let hub1: string;
let hub2: string;
let studio: Peer;
let desk: Peer;

beforeEach(async () => {
  line = await threeInALine();
  ({ git, hub1, hub2, studio, desk } = line);
});
afterEach(() => {
  git.remove();
});

const tipAt = (hub: string, handle: string): string | undefined => tipOf(git, hub, handle);

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
  expect(await remoteOf(desk, 'second')).toMatchObject({ next_try_at: new Date(line.time.now + waitMs).toISOString() });
  line.time.now += waitMs - 1;
  await background(desk);
  expect(opened.length).toBe(1);
  line.time.now += 1;
  waitMs = 86_400_000;
  await background(desk);
  expect(opened.length).toBe(2);
  expect(await remoteOf(desk, 'second')).toMatchObject({
    next_try_at: new Date(line.time.now + 3_600_000).toISOString(),
  });
  // The clock was an hour and more ahead.
  line.time.now -= 3_700_000;
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
    line.time.now += 60_000;
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
    line.time.now += 3 * 3_600_000;
  }
  renameSync(`${hub2}.away`, hub2);
  const opened = meet(desk, 'second');
  await background(desk);
  expect(opened).toEqual(['git-receive-pack']);
  expect(tipAt(hub2, 'desk')).toBe(desk.tip());
  expect(await remoteOf(desk, 'second')).toMatchObject({ state: 'ok', queued: 0 });
});
