import { commitOnBranch, encodeReceipt, encodeRoster, keyFingerprint, receiptPath, rosterPath } from '@git-mesh/core';
import type { Handle } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMesh } from './join.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk']);
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const another = keyFingerprint('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBERERERERERERERERERERERERERERERERERERERERER');
const verified = async (peer: Peer): Promise<Record<string, string>> =>
  Object.fromEntries((await peer.api.agents({}, peer.call())).machines.map((one) => [one.handle, one.verified]));
const problems = async (peer: Peer): Promise<string[]> =>
  ((await peer.api.agents({}, peer.call())).problems ?? []).map(({ kind, machine }) => `${kind} ${machine ?? ''}`);
const pinned = async (peer: Peer, handle: string): Promise<boolean> =>
  (await peer.store.local.pins()).has(handle as Handle);
const write = (peer: Peer, path: string, bytes: Uint8Array): Promise<unknown> =>
  peer.store.withLock(() =>
    commitOnBranch(peer.store, {
      edits: new Map([[path, bytes]]),
      event: { event: 'receipt', agent: null, journal: 0, messages: [], read: [], summary: 'by hand' },
      author: null,
      at: Date.now(),
    }),
  );
/** `peer` states that it knows `handle` by another key. */
const disagree = (peer: Peer, handle: string): Promise<unknown> =>
  write(
    peer,
    receiptPath(handle as Handle),
    encodeReceipt({ delivered_through: { seq: 1, commit: peer.tip() }, at: '2026-12-02T10:00:00.000Z', key: another }), // prettier-ignore
  );
async function joinLate(): Promise<Peer> {
  const dir = mesh.git.path('late');
  await joinMesh({ url: mesh.remote, dir, env: process.env, logger: studio.mesh.logger, machine: 'late', hostname: 'h' }); // prettier-ignore
  return Peer.open(mesh.git, dir);
}

test('a late joiner pins no key that another machine knows otherwise, and says who pinned what', async () => {
  await disagree(desk, 'laptop');
  await settle(mesh.peers);
  const late = await joinLate();
  expect([await pinned(late, 'laptop'), await pinned(late, 'desk')]).toEqual([false, true]);
  expect(await verified(late)).toMatchObject({ laptop: 'unverified', desk: 'first-seen', studio: 'signed' });
  expect((await late.status()).problems).toEqual([
    {
      kind: 'key_conflict',
      machine: 'laptop',
      message: `machines know laptop by different keys: here it is ${keyFingerprint(laptop.store.signer.publicKey)}, and desk pinned ${another}`,
      fix: expect.stringContaining('git mesh admit laptop says so here') as string,
    },
  ]);
  // Nothing is pinned, and still no other key passes: the accepted tip's own binds.
  await laptop.checkin('dev');
  await laptop.sync();
  await late.sync();
  expect(await late.accepted('laptop')).toBe(laptop.tip());
  const tree = laptop.treeWith(
    'machine.yaml',
    laptop
      .git('show', `${laptop.store.branch}:machine.yaml`)
      .replace(laptop.store.signer.publicKey, desk.store.signer.publicKey)
      .concat('\n'),
  );
  laptop.forcePush(mesh.remote, await laptop.forge({ tree, sign: desk }));
  await late.sync();
  expect(await problems(late)).toEqual(['wrong_key laptop', 'key_conflict laptop']);
  // Opened again, nothing was lost that had to be mended.
  const again = await Peer.open(mesh.git, late.store.dir);
  expect([await pinned(again, 'laptop'), (await again.api.doctor()).problems.map(({ kind }) => kind)]).toEqual([
    false,
    ['wrong_key', 'key_conflict'],
  ]);
});

test('a machine is told that others know it by another key; who pinned it before is shown the same', async () => {
  await disagree(desk, 'laptop');
  await settle(mesh.peers);
  expect([await problems(laptop), (await verified(laptop))['laptop']]).toEqual([['key_conflict laptop'], 'signed']);
  expect([await problems(studio), (await verified(studio))['laptop']]).toEqual([['key_conflict laptop'], 'unverified']);
});

test('an admission attests a key for this machine alone, which settles a conflict there', async () => {
  await disagree(desk, 'laptop');
  await settle(mesh.peers);
  await studio.api.admit({ machine: 'laptop', confirm: true }, studio.call());
  await settle(mesh.peers);
  expect([await problems(studio), (await verified(studio))['laptop']]).toEqual([[], 'signed']);
  const late = await joinLate();
  expect([await problems(late), (await verified(late))['laptop']]).toEqual([['key_conflict laptop'], 'unverified']);
});

test('a key that is seen for the first time is pinned with what came in the same round, and in each', async () => {
  const late = await joinLate();
  expect(await verified(late)).toEqual({ desk: 'first-seen', laptop: 'first-seen', late: 'signed', studio: 'signed' });
  expect(await problems(late)).toEqual([]);
});

test('under open nobody is told to have admitted itself', async () => {
  await settle(mesh.peers);
  const { keys } = await laptop.api.keys();
  const shown = keys.map(({ machine, standing, by }) => [machine, standing, by]);
  expect(shown).toEqual([['desk', 'first-seen', null], ['laptop', 'own', null], ['studio', 'founder', null]]); // prettier-ignore
});

test('under open a revocation binds where it was made, and the others are shown it', async () => {
  await desk.checkin('qa');
  await studio.checkin('boss');
  await laptop.send('*', 'before');
  await settle(mesh.peers);
  const revoked = await studio.api.revoke({ machine: 'laptop', confirm: true }, studio.call());
  expect(revoked.binds).toBe('here');
  await laptop.send('*', 'after');
  await settle(mesh.peers);
  expect([await studio.inbox('boss'), await desk.inbox('qa')]).toEqual([['before'], ['before', 'after']]);
  expect(Object.keys(await verified(studio))).toEqual(['desk', 'studio']);
  expect([await verified(desk), await problems(desk)]).toEqual([
    { desk: 'signed', laptop: 'first-seen', studio: 'signed' },
    ['revoked_elsewhere laptop'],
  ]);
  expect(await problems(laptop)).toEqual(['revoked_elsewhere laptop']);
  await desk.api.admit({ machine: 'laptop', confirm: true }, desk.call());
  expect([await problems(desk), (await verified(desk))['laptop']]).toEqual([[], 'signed']);
  await studio.api.admit({ machine: 'laptop', confirm: true }, studio.call());
  await settle(mesh.peers);
  expect(await studio.inbox('boss')).toEqual(['before', 'after']);
});

test('what others state binds nobody here under open, however it is written', async () => {
  const through = { seq: 1, commit: laptop.tip() };
  const record = { handle: 'laptop' as Handle, key: laptop.store.signer.publicKey, revoked_at: '2026-12-02T10:00:00.000Z' as never, through }; // prettier-ignore
  await write(studio, rosterPath('laptop' as Handle), encodeRoster(record));
  await laptop.checkin('dev');
  await settle(mesh.peers);
  expect((await desk.api.agents({}, desk.call())).agents.map(({ agent_id: id }) => id)).toEqual(['dev']);
});
