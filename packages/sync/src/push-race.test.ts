import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Peer, remoteMesh } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
});
afterEach(() => {
  mesh.remove();
});

test('processes of one store that push at the same moment get in each other’s way, and none calls it a refusal', async () => {
  const [studio, laptop] = mesh.peers as [Peer, Peer];
  await laptop.checkin('dev');
  await laptop.sync();
  await studio.sync();
  // Each is what one process holds.
  const beside = [studio];
  for (let n = 0; n < 3; n++) beside.push(await Peer.open(mesh.git, studio.store.dir));
  const errors: unknown[] = [];
  for (let n = 0; n < 12; n++) {
    await Promise.all(
      beside.map(async (peer, who) => {
        await peer.send('laptop', `${n}-${who}`);
        await peer.sync();
        errors.push(...(await peer.facts()).remotes.map(({ error }) => error).filter((error) => error !== null));
      }),
    );
  }
  expect(errors).toEqual([]);
  await studio.sync();
  await laptop.sync();
  expect(new Set(await laptop.inbox('dev')).size).toBe(48);
  expect((await studio.facts()).remotes).toMatchObject([{ state: 'ok', queued: 0 }]);
});

/** A lock as a `git receive-pack` leaves it that is killed between making it and filling it. */
function lockLeft(branch: string, ageMs: number): string {
  const path = join(mesh.remote, 'refs', 'heads', 'mesh', `${branch}.lock`);
  writeFileSync(path, '');
  const then = (Date.now() - ageMs) / 1000;
  utimesSync(path, then, then);
  return path;
}

test('a lock that a killed git left on the own branch there is removed once it is old, and the push goes through', async () => {
  const [studio] = mesh.peers as [Peer, Peer];
  const lock = lockLeft('studio', 11 * 60_000);
  const theirs = lockLeft('laptop', 11 * 60_000);
  await studio.checkin('boss');
  await studio.sync();
  expect((await studio.facts()).remotes).toMatchObject([{ state: 'ok', queued: 0, error: null }]);
  expect([existsSync(lock), existsSync(theirs)]).toEqual([false, true]);
});

test('one that may still be held is left alone, and the refusal says what becomes of it', async () => {
  const [studio] = mesh.peers as [Peer, Peer];
  const lock = lockLeft('studio', 60_000);
  await studio.checkin('boss');
  await studio.sync();
  const { remotes, problems } = await studio.facts();
  expect(remotes).toMatchObject([{ queued: 1, error: { name: 'push_refused' } }]);
  expect(JSON.stringify([remotes, problems])).toContain('removed once it is 10 minutes old');
  expect(existsSync(lock)).toBe(true);
  rmSync(lock);
  await studio.sync();
  expect((await studio.facts()).remotes).toMatchObject([{ state: 'ok', queued: 0 }]);
});
