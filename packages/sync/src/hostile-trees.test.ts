import { encodeTree, hashObject } from '@git-mesh/core';
import type { Oid, TreeEntry } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

// What a member of the mesh can put on its own, well signed branch.

let mesh: RemoteMesh;
let studio: Peer;
let rogue: Peer;
let seq: number;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'rogue']);
  [studio, rogue] = mesh.peers as [Peer, Peer];
  await studio.checkin('boss');
  await rogue.checkin('dev');
  await settle(mesh.peers);
  await rogue.send('studio', 'before');
  seq = (await rogue.mesh.branches.ownBranch()).seq;
});
afterEach(() => {
  mesh.remove();
});

const write = async (type: 'blob' | 'tree', data: Uint8Array | string): Promise<Oid> => {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  await rogue.store.objects.write([{ type, data: bytes }]);
  return hashObject(type, bytes);
};
const tree = (entries: readonly TreeEntry[]): Promise<Oid> => write('tree', encodeTree(entries));
const entriesAt = async (path: string): Promise<readonly TreeEntry[]> =>
  rogue.store.objects.tree(rogue.git('rev-parse', `${rogue.store.branch}:${path}`) as Oid);
const file = (name: string, oid: Oid): TreeEntry => ({ mode: '100644', name, oid });
const folder = (name: string, oid: Oid): TreeEntry => ({ mode: '40000', name, oid });
/** The own tree with one of its folders replaced. */
const withFolder = async (name: string, oid: Oid): Promise<Oid> =>
  tree([...(await entriesAt('')).filter((entry) => entry.name !== name), folder(name, oid)]);

async function pushed(root: Oid): Promise<Oid> {
  seq += 1;
  const tip = await rogue.forge({ tree: root, seq });
  rogue.forcePush(mesh.remote, tip);
  await studio.sync();
  return tip;
}

/** Every answer of the machine that took the branch in, and what it shows of the branch's good files. */
async function answers(): Promise<{ agents: string[]; inbox: unknown[]; doctor: string }> {
  const { agents } = await studio.api.agents({}, studio.call());
  await studio.status();
  await studio.send('*', 'to all');
  const { problems } = await studio.api.doctor();
  return {
    agents: agents.map((agent) => agent.agent_id).sort(),
    inbox: (await studio.inbox('boss')).filter((n) => n !== 'to all'),
    doctor: problems.map(({ kind, machine, path }) => [kind, machine, path].join(' ')).join('\n'),
  };
}

test('thousands of presence records stop no one’s answers, and doctor says that not all are read', async () => {
  const presence = await entriesAt('presence');
  const junk = await write('blob', 'agent: nobody\n');
  const more = Array.from({ length: 2_500 }, (_, n) => file(`x${n}.yaml`, junk));
  const tip = await pushed(await withFolder('presence', await tree([...presence, ...more])));
  expect(await studio.accepted('rogue')).toBe(tip);
  expect(await answers()).toEqual({
    agents: ['boss', 'dev'],
    inbox: ['before'],
    doctor: expect.stringMatching(/bad_file rogue presence\/x/) as string,
  });
});

test('folders at places of no meaning, whose trees no check looked into, hide nothing beside them', async () => {
  const inner = {
    'Name-that-is-not-UTF-8': oddTree(Buffer.from('\xff\xfe', 'latin1')),
    'One-name-twice': oddTree(Buffer.from('a'), Buffer.from('a')),
    'Out-of-order': oddTree(Buffer.from('b'), Buffer.from('a')),
    'Parent-folder': oddTree(Buffer.from('..')),
    'Tree-bomb': exploding(),
  };
  const odd: TreeEntry[] = [];
  for (const [name, oid] of Object.entries(inner)) odd.push(folder(name, await oid));
  const presence = await tree([...(await entriesAt('presence')), ...odd]);
  const root = (await entriesAt('')).filter(({ name }) => name !== 'presence' && name !== 'messages');
  const to = await tree([...(await entriesAt('messages/studio')), ...odd]);
  const messages = await tree([folder('studio', to), folder('_all', await tree(odd)), ...odd]);
  const tip = await pushed(await tree([...root, folder('messages', messages), folder('presence', presence), ...odd]));
  expect(await studio.accepted('rogue')).toBe(tip);
  const { agents, inbox, doctor } = await answers();
  expect([agents, inbox]).toEqual([['boss', 'dev'], ['before']]);
  const places = ['', 'presence/', 'messages/', 'messages/studio/', 'messages/_all/'];
  const named = places.flatMap((place) => odd.map(({ name }) => `bad_file rogue ${place}${name}`));
  expect(doctor.split('\n').sort()).toEqual(named.sort());
});

async function oddTree(...names: Buffer[]): Promise<Oid> {
  const oid = Buffer.from(await write('blob', 'x'), 'hex');
  const zero = Buffer.alloc(1);
  return write('tree', Buffer.concat(names.flatMap((name) => [Buffer.from('100644 '), name, zero, oid])));
}

/** 60 levels of two entries each: more paths than there are atoms in a stone. */
async function exploding(): Promise<Oid> {
  let inner = await tree([file('x', await write('blob', 'x'))]);
  for (let level = 0; level < 60; level++) inner = await tree([folder('a', inner), folder('b', inner)]);
  return inner;
}

test('a tree with far too many entries is refused unread and named; what was accepted stays', async () => {
  const before = await studio.accepted('rogue');
  const blob = await write('blob', 'x');
  const many = Array.from({ length: 230_000 }, (_, n) => file(`${String(n).padStart(10, '0')}.yaml`, blob));
  const presence = await tree(many);
  rogue.store.objects.tree = () => Promise.reject(new Error('the forger need not read it'));
  const tip = await rogue.forge({ tree: presence, seq: seq + 1 });
  rogue.forcePush(mesh.remote, tip);
  await studio.sync();
  expect(await studio.accepted('rogue')).toBe(before);
  expect((await studio.status()).problems).toMatchObject([{ kind: 'unreadable', machine: 'rogue' }]);
  expect((await studio.status()).problems[0]?.message).toContain('8388608');
});
