import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { remoteMesh } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk']);
});
afterEach(() => {
  mesh.remove();
});

test('a machine that only hears what others tell each other keeps few packs, and all of their history', async () => {
  const [studio, , desk] = mesh.peers as [Peer, Peer, Peer];
  for (let n = 0; n < 40; n++) {
    await studio.send('laptop', `message ${n}`);
    await studio.sync();
    await desk.sync();
  }
  const store = desk.store.dir;
  const packs = readdirSync(join(store, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  expect(packs.length).toBeLessThan(20);
  expect(mesh.git.git(['-C', store, 'fsck', '--strict', '--no-dangling'])).toBe('');
  expect(mesh.git.git(['-C', store, 'rev-list', '--count', 'refs/heads/mesh/studio'])).toBe(
    mesh.git.git(['-C', mesh.remote, 'rev-list', '--count', 'refs/heads/mesh/studio']),
  );
});
