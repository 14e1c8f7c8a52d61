import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';
import { remoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
  for (const peer of [studio, laptop, studio]) await peer.sync();
});
afterEach(() => {
  mesh.remove();
});

/** Puts a lock of git's into the remote as a killed git leaves it, `ageMs` old. */
function lock(path: string, ageMs: number): string {
  const file = join(mesh.remote, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(file, at, at);
  return file;
}
const minutes = 60_000;
const remote = async (peer: Peer): Promise<unknown> => (await peer.facts()).remotes[0];
const there = (): string => mesh.git.git(['-C', mesh.remote, 'rev-parse', studio.store.branch]);

test.each([
  ['11 minutes', 11 * minutes],
  ['hours in the future, by a clock that was set back', -120 * minutes],
])(
  'a lock on the own branch in the remote that is %s old is removed, and the same round pushes',
  async (_old, ageMs) => {
    const file = lock(`${studio.store.branch}.lock`, ageMs);
    await studio.checkin('boss');
    await studio.sync();
    expect(await remote(studio)).toMatchObject({ state: 'ok', queued: 0, error: null });
    expect(existsSync(file)).toBe(false);
    expect(there()).toBe(studio.tip());
  },
);

test('a young lock is left alone, and the refusal says when it goes by itself and what a person can do', async () => {
  const file = lock(`${studio.store.branch}.lock`, 9 * minutes);
  const made = statSync(file).mtimeMs;
  const before = there();
  await studio.checkin('boss');
  await studio.sync();
  const free = new Date(Math.round(made + 10 * minutes)).toISOString();
  expect(await remote(studio)).toMatchObject({ state: 'error', queued: 1, error: { name: 'push_refused' } });
  const { problems } = await studio.status();
  expect(problems).toMatchObject([
    {
      kind: 'push_refused',
      message: expect.stringMatching(
        new RegExp(
          `refs/heads/mesh/studio\\.lock is in the way there since .*the first push after ${free} removes it.*by hand`,
        ),
      ) as string,
      fix: expect.stringContaining('removes that file by hand') as string,
    },
  ]);
  expect(JSON.stringify(problems)).not.toContain(mesh.remote);
  expect([existsSync(file), there()]).toEqual([true, before]);
  lock(`${studio.store.branch}.lock`, 11 * minutes);
  await studio.sync();
  expect(await remote(studio)).toMatchObject({ state: 'ok', queued: 0 });
});

test('a lock that another push has made since the look is not taken away', async () => {
  const { locks } = studio.remotes[0]?.transport ?? {};
  if (locks === undefined) throw new Error('a local remote has them');
  const { branch } = studio.store;
  const file = lock(`${branch}.lock`, 11 * minutes);
  expect(await locks.on(branch)).toMatchObject({ isLeft: true });
  lock(`${branch}.lock`, 0);
  expect([await locks.remove(branch), existsSync(file)]).toEqual([false, true]);
});

test('a lock on another machine’s branch is never touched, however old; doctor names it and all others', async () => {
  const theirs = lock(`${laptop.store.branch}.lock`, 600 * minutes);
  const packed = lock('packed-refs.lock', 600 * minutes);
  const charter = lock('refs/heads/mesh/_charter.lock', 600 * minutes);
  await studio.checkin('boss');
  await studio.sync();
  expect(await remote(studio)).toMatchObject({ state: 'ok', queued: 0 });
  expect([theirs, packed, charter].map((file) => existsSync(file))).toEqual([true, true, true]);

  const { problems } = await studio.api.doctor();
  expect(problems.map(({ kind, path }) => [kind, path]).sort()).toEqual([
    ['remote_lock', 'packed-refs.lock'],
    ['remote_lock', 'refs/heads/mesh/_charter.lock'],
    ['remote_lock', 'refs/heads/mesh/laptop.lock'],
  ]);
  expect(problems[0]?.fix).toContain('remove');
  // Its own machine takes it away, also while it has nothing to push.
  await laptop.sync();
  expect(existsSync(theirs)).toBe(false);
});
