import { readableArrivals } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { journalArrivals } from './journal-arrivals.js';
import { remoteMesh, settle } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let desk: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'desk']);
  // Two were asked for.
  [studio, desk] = mesh.peers as [Peer, Peer];
  await settle(mesh.peers);
});

afterEach(() => {
  mesh.remove();
});

const receipts = (): number =>
  desk
    .git('log', '--format=%s', desk.store.branch)
    .split('\n')
    .filter((subject) => subject.startsWith('receipt')).length;

/** What a process does that dies right after it has numbered what arrived. */
async function numberOnly(): Promise<void> {
  desk.git('fetch', '--quiet', studio.store.dir, `${studio.store.branch}:${studio.store.branch}`);
  const { store, branches, clock } = desk.mesh;
  await store.withLock(async () => {
    for (const branch of await branches.all()) {
      const entries = await readableArrivals(store, branch, await store.journal.view(), clock.now());
      await store.journal.append(entries, { durable: true });
    }
  });
}

test('a receipt that a crash left unstated is stated by whoever journals next, once, by however many at once', async () => {
  await studio.send('desk', 1);
  await numberOnly();
  expect(receipts()).toBe(0);
  await Promise.all([journalArrivals(desk.mesh), journalArrivals(desk.mesh)]);
  expect(receipts()).toBe(1);
  await journalArrivals(desk.mesh);
  expect(receipts()).toBe(1);
  await settle(mesh.peers);
  expect((await studio.api.sent({}, studio.call())).messages[0]?.state).toBe('delivered');
  expect(receipts()).toBe(1);
});

test('what was for nobody here is owed no receipt', async () => {
  await studio.checkin('boss');
  await numberOnly();
  await journalArrivals(desk.mesh);
  expect(receipts()).toBe(0);
});
