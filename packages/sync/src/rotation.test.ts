import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import {
  encodeMachine,
  formatCommitMessage,
  handoverBytes,
  keyFingerprint,
  keysOf,
  silentLogger,
} from '@git-mesh/core';
import type { EventName, MachineRecord, Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRemote } from './remote-add.js';
import { fetchHistory } from './history.js';
import { joinMesh } from './join.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
/** Of studio, opened before anything: it signs with the first key for ever. */
let old: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
  old = await Peer.open(mesh.git, studio.store.dir);
  await laptop.checkin('dev');
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const rotate = async (peer: Peer): Promise<void> => {
  await peer.api.rotateKey({ confirm: true }, peer.call());
};
const pinOf = async (peer: Peer, handle = 'studio'): Promise<string | undefined> =>
  new Map<string, string>(await peer.store.local.pins()).get(handle);
const rejectedAt = async (peer: Peer): Promise<string[]> =>
  (await peer.facts()).problems.map(({ kind, message }) => `${kind}: ${message}`);
const machineOf = async (peer: Peer): Promise<MachineRecord> => {
  const { machine } = await peer.mesh.branches.ownBranch();
  if (machine === null) throw new Error('it has a machine.yaml');
  return machine;
};
async function badSignatures(peer: Peer): Promise<string[]> {
  const bad: string[] = [];
  for await (const line of peer.api.log({}, {})) if (line.signature !== 'good') bad.push(line.subject);
  return bad;
}
async function message(peer: Peer, event: EventName): Promise<string> {
  const { journal, seq } = await peer.mesh.branches.ownBranch();
  return formatCommitMessage({ event, agent: null, seq: seq + 1, journal, messages: [], read: [], summary: 'forged' });
}
async function join(machine: string, options: { historyUpTo?: number; keyFile?: string } = {}): Promise<Peer> {
  const setup = { dir: mesh.git.path(machine), env: process.env, logger: silentLogger, hostname: machine, machine };
  await joinMesh({ ...setup, url: mesh.remote, ...options });
  return Peer.open(mesh.git, setup.dir);
}
/** Stock git's word on every commit of a machine's branch, with its keys allowed. */
function verifiedByGit(peer: Peer, handle: string, keys: readonly string[]): void {
  const file = mesh.git.path('allowed');
  writeFileSync(file, keys.map((key) => `${handle}@mesh.invalid namespaces="git" ${key}\n`).join(''));
  const commits = peer.git('rev-list', `refs/heads/mesh/${handle}`).split('\n');
  peer.git('-c', `gpg.ssh.allowedSignersFile=${file}`, 'verify-commit', ...commits);
}

test('a rotation is followed: the pin moves on, messages come, and stock tools know the keys', async () => {
  const first = studio.store.signer.publicKey;
  await rotate(studio);
  await studio.send('laptop', 1);
  await settle(mesh.peers);
  const second = studio.store.signer.publicKey;
  expect(second).not.toBe(first);
  expect(await laptop.accepted('studio')).toBe(studio.tip());
  expect(await pinOf(laptop)).toBe(second);
  expect(await laptop.inbox('dev')).toEqual([1]);
  expect(await rejectedAt(laptop)).toEqual([]);
  // The founder is who the charter names, under whatever key.
  const { machines } = await laptop.api.agents({}, laptop.call());
  expect(machines.find(({ handle }) => handle === 'studio')?.verified).toBe('signed');
  expect(laptop.git('show', `${laptop.store.branch}:receipts/studio.yaml`)).toContain(keyFingerprint(second));
  for (const peer of mesh.peers) {
    expect(await badSignatures(peer)).toEqual([]);
    verifiedByGit(peer, 'studio', [first, second]);
  }
  expect(() => {
    verifiedByGit(laptop, 'studio', [second]);
  }).toThrow();
  const shown = execFileSync('ssh-keygen', ['-y', '-f', `${studio.store.dir}/mesh/key`]).toString();
  expect(shown).toContain(second);
});

test('a machine that was away follows several rotations with messages between them, in steps too', async () => {
  for (const n of [1, 2, 3]) {
    await studio.send('laptop', n);
    await rotate(studio);
  }
  await studio.send('laptop', 4);
  await studio.sync();
  for (const remote of laptop.remotes) remote.limits = { commitsAtOnce: 2, commitsAFetch: 3 };
  const pins = new Set<string | undefined>();
  for (let rounds = 0; rounds < 6; rounds++) {
    await laptop.sync();
    expect(await rejectedAt(laptop)).toEqual([]);
    pins.add(await pinOf(laptop));
  }
  expect(await laptop.accepted('studio')).toBe(studio.tip());
  expect([...pins].at(-1)).toBe(studio.store.signer.publicKey);
  expect(pins.size).toBeGreaterThan(1);
  expect(await laptop.inbox('dev')).toEqual([1, 2, 3, 4]);
  expect(await badSignatures(laptop)).toEqual([]);
});

test('nothing that the old key signs after the rotation is accepted, by those who followed and at first sight', async () => {
  await rotate(studio);
  await settle(mesh.peers);
  const tip = studio.tip();
  const plain = await studio.forge({ sign: old });
  const again = await studio.forge({ sign: old, message: await message(studio, 'rotate-key') });
  for (const [name, forged] of [
    ['plain', plain],
    ['again', again],
  ] as const) {
    studio.forcePush(mesh.remote, forged);
    await laptop.sync();
    expect(await laptop.accepted('studio'), name).toBe(tip);
    expect((await rejectedAt(laptop)).join(), name).toMatch(/^wrong_key: /);
  }
  const late = await join('late');
  expect(await late.accepted('studio')).toBeNull();
  expect((await rejectedAt(late)).join()).toMatch(/^wrong_key: .*changes a key that is over/);
  // The machine itself says that somebody else was there.
  await studio.sync();
  expect((await rejectedAt(studio)).join()).toMatch(/own_branch_foreign/);
  expect(studio.tip()).toBe(tip);
});

test('a chain of keys that the pinned key did not sign, or signed for something else, changes nothing', async () => {
  const record = await machineOf(studio);
  const [from, to] = [record.key, laptop.store.signer.publicKey];
  const { mesh: id, handle } = record;
  const other = { mesh: id, handle: (await machineOf(laptop)).handle, from, to };
  const sign = (peer: Peer, data: Uint8Array): string =>
    Buffer.from(peer.store.signer.signBytes(data)).toString('base64');
  const wrong = {
    'by the new key itself': sign(laptop, handoverBytes({ mesh: id, handle, from, to })),
    'for another machine': sign(studio, handoverBytes(other)),
  };
  const tip = studio.tip();
  for (const [name, signature] of Object.entries(wrong)) {
    const yaml = encodeMachine({ ...record, key: to, previous: [{ key: from, signature }] });
    const tree = studio.treeWith('machine.yaml', Buffer.from(yaml).toString());
    const rotation = await studio.forge({ tree, message: await message(studio, 'rotate-key') });
    studio.forcePush(mesh.remote, rotation);
    await laptop.sync();
    expect(await laptop.accepted('studio'), name).toBe(tip);
    expect((await rejectedAt(laptop)).join(), name).toMatch(/^wrong_key: .*not signed in by the key before it/);
  }
  expect(await pinOf(laptop)).toBe(from);
  // Proven, but without the commit that rotates; and a rotation to another key than the next.
  const data = handoverBytes({ mesh: record.mesh, handle: record.handle, from, to });
  const signature = Buffer.from(studio.store.signer.signBytes(data)).toString('base64');
  const yaml = Buffer.from(encodeMachine({ ...record, key: to, previous: [{ key: from, signature }] })).toString();
  const tree = studio.treeWith('machine.yaml', yaml);
  const refused = async (oid: Oid, why: RegExp): Promise<void> => {
    studio.forcePush(mesh.remote, oid);
    await laptop.sync();
    expect(await laptop.accepted('studio')).toBe(tip);
    expect((await rejectedAt(laptop)).join()).toMatch(why);
  };
  await refused(await studio.forge({ tree, sign: laptop }), /without a commit that rotates it/);
  await refused(await studio.forge({ message: await message(studio, 'rotate-key') }), /does not name/);
});

test('a machine that joins after a rotation sees it, with its tip or below it, and with the older history too', async () => {
  await studio.send('laptop', 1);
  await rotate(studio);
  await studio.sync();
  const atTip = await join('at-tip', { historyUpTo: 0 });
  expect(await atTip.accepted('studio')).toBe(studio.tip());
  await studio.send('laptop', 2);
  await studio.sync();
  const below = await join('below', { historyUpTo: 0 });
  for (const late of [atTip, below]) {
    await late.sync();
    expect(await rejectedAt(late)).toEqual([]);
    expect(await late.accepted('studio')).toBe(studio.tip());
    expect(await pinOf(late)).toBe(studio.store.signer.publicKey);
    const [remote] = late.remotes;
    if (remote === undefined) throw new Error('it has a remote');
    const ctx = { mesh: late.mesh, remote, signal: AbortSignal.timeout(30_000), logger: silentLogger };
    expect((await fetchHistory(ctx, { commitsAtOnce: 2 })).problems).toEqual([]);
    expect(late.git('rev-list', '--count', 'refs/heads/mesh/studio')).toBe(
      studio.git('rev-list', '--count', studio.store.branch),
    );
    expect(await badSignatures(late)).toEqual([]);
  }
});

test('a remote that has not the rotation yet is behind, for the machine and for others', async () => {
  const second = mesh.git.bare('second.git');
  const { env } = process;
  for (const peer of mesh.peers) {
    await addRemote({ dir: peer.store.dir, env, logger: silentLogger, name: 'second', url: second });
  }
  await rotate(studio);
  // Each with the first remote alone.
  for (const peer of [studio, laptop]) await peer.sync();
  expect(await pinOf(laptop)).toBe(studio.store.signer.publicKey);
  for (const handle of ['studio', 'laptop']) {
    const peer = await Peer.open(mesh.git, mesh.git.path(handle));
    expect(peer.remotes.length).toBe(2);
    await peer.sync();
    expect(await rejectedAt(peer)).toEqual([]);
  }
});

test('a store that was put back from before the rotation says what it lacks, and pushes nothing', async () => {
  const { dir } = studio.store;
  cpSync(dir, `${dir}.backup`, { recursive: true });
  await rotate(studio);
  await studio.sync();
  const tip = studio.tip();
  rmSync(dir, { recursive: true });
  cpSync(`${dir}.backup`, dir, { recursive: true });
  const restored = await Peer.open(mesh.git, dir);
  await restored.send('laptop', 1);
  await restored.sync();
  expect((await rejectedAt(restored)).join()).toMatch(/own_branch_foreign: .*put back from before that/);
  expect(mesh.git.git(['-C', mesh.remote, 'rev-parse', studio.store.branch])).toBe(tip);
});

test('of a copy from before the rotation, doctor and status say that its own key was rotated elsewhere', async () => {
  const { dir } = studio.store;
  cpSync(dir, `${dir}.backup`, { recursive: true });
  await rotate(studio);
  await studio.send('laptop', 1);
  await settle([studio, laptop, studio]);
  const later = keyFingerprint((await machineOf(studio)).key);
  rmSync(dir, { recursive: true });
  cpSync(`${dir}.backup`, dir, { recursive: true });
  const restored = await Peer.open(mesh.git, dir);
  await restored.sync();
  const found = (await restored.api.doctor()).problems.find(({ kind }) => kind === 'key_conflict');
  expect(found).toMatchObject({ machine: 'studio' });
  expect(found?.message).toMatch(
    /^this store is a copy from before a rotation: the key of studio was rotated in another copy/,
  );
  expect(found?.message).toContain(later);
  expect(found?.fix).toContain('join from here under another handle');
});

test('a machine joins with a key that its user has, and says where others can read that', async () => {
  const keyFile = mesh.git.path('id');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyFile]);
  const desk = await join('desk', { keyFile });
  expect(execFileSync('ssh-keygen', ['-y', '-f', keyFile]).toString()).toContain((await machineOf(desk)).key);
  const missing = join('other', { keyFile: mesh.git.path('none') });
  await expect(missing).rejects.toMatchObject({ errorName: 'invalid_argument' });
  await rotate(desk);
  await settle([desk, laptop]);
  expect(keysOf(await machineOf(desk)).length).toBe(2);
  expect(await pinOf(laptop, 'desk')).toBe(desk.store.signer.publicKey);
});

test('a machine that was revoked is told that a new key changes nothing, and goes on with it once it is taken back', async () => {
  await studio.api.revoke({ machine: 'laptop', confirm: true }, studio.call());
  await settle(mesh.peers);
  const told = expect.stringMatching(
    /^studio revoked this machine: .*\. A new key changes nothing about that: ask whoever runs studio/,
  ) as string;
  expect((await laptop.api.rotateKey({}, laptop.call())).warning).toEqual(told);
  expect((await laptop.api.rotateKey({ confirm: true }, laptop.call())).warning).toEqual(told);
  await settle(mesh.peers);
  await studio.api.admit({ machine: 'laptop', confirm: true }, studio.call());
  await settle(mesh.peers);
  expect(await studio.accepted('laptop')).toBe(laptop.tip());
  expect((await laptop.api.rotateKey({}, laptop.call())).warning).toBeUndefined();
});
