import type { RemoteState } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RemoteStates } from './remote-states.js';
import { remoteMesh } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let local: Peer['store']['local'];

beforeEach(async () => {
  mesh = await remoteMesh(['studio']);
  const [studio] = mesh.peers as [Peer];
  local = studio.store.local;
});
afterEach(() => {
  mesh.remove();
});

const ok = (second: number): RemoteState => ({
  last_ok_at: `2026-12-02T10:00:${String(second).padStart(2, '0')}.000Z` as RemoteState['last_ok_at'],
  next_try_at: null,
  failures: 0,
  error: null,
  rejected: [],
  writable: true,
});
const failed = (second: number): RemoteState => ({
  ...ok(second),
  failures: 1,
  error: { name: 'unreachable', message: 'x' },
});

test('the one that wrote last is believed, whatever its last success was', async () => {
  const [mine, other] = [new RemoteStates(local), new RemoteStates(local)];
  other.set('far', ok(1));
  await other.flush(['far']);
  mine.set('far', ok(5));
  await mine.flush(['far']);
  other.set('far', failed(1));
  expect(await mine.get('far')).toEqual(ok(5));
  await other.flush(['far']);
  expect(await mine.get('far')).toEqual({ ...failed(1), last_ok_at: ok(5).last_ok_at });
  mine.set('far', ok(6));
  await mine.flush(['far']);
  expect(await other.get('far')).toEqual(ok(6));
});

test('the mere passing of time is written every five seconds, all else at once', async () => {
  const states = new RemoteStates(local);
  const put = vi.spyOn(local, 'putRemote');
  for (const second of [0, 1, 4, 5, 9, 10]) {
    states.set('far', ok(second));
    await states.flush(['far']);
    expect(await states.get('far')).toEqual(ok(second));
  }
  expect(put.mock.calls.map(([, state]) => state)).toEqual([ok(0), ok(5), ok(10)]);
  states.set('far', failed(10));
  await states.flush(['far', 'never looked at']);
  expect(put).toHaveBeenCalledTimes(4);
  await states.flush(['far']);
  expect(put).toHaveBeenCalledTimes(4);
});
