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
