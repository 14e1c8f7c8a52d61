import type { Oid, Problem, RefName } from '@git-mesh/core';
import { type Peer, type RemoteMesh, remoteMesh, settle } from '@git-mesh/sync/testing';
import { spawnSync } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, launcher } from '../environment.js';
import { scratch } from '../scratch.js';
import { stockGit, writeBranch } from '../stock-git.js';

// The attacker may push anything to any branch, with nothing but stock git. `mallory` is a member of the mesh as well.

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;
let mallory: Peer;
let honest = 0;

beforeAll(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk', 'mallory']);
  [studio, laptop, desk, mallory] = mesh.peers as [Peer, Peer, Peer, Peer];
  await studio.checkin('boss');
  await laptop.checkin('qa');
  await mallory.checkin('dev');
  await settle(mesh.peers);
  await studio.send('laptop', 'before');
  await settle(mesh.peers);
});
afterAll(() => {
  mesh.remove();
});

const onRemote = (...args: string[]): string => stockGit(['--git-dir', mesh.remote, ...args]);
const branch = (handle: string): RefName => `refs/heads/mesh/${handle}` as RefName;
const remoteTip = (handle: string): string => onRemote('for-each-ref', '--format=%(objectname)', branch(handle));
const put = (handle: string, tip: string): string => onRemote('update-ref', branch(handle), tip);
/** Besides what earlier attacks are still told of for a day. */
const now = (problems: readonly Problem[]): Problem[] => problems.filter(({ kind }) => kind !== 'branch_rewound');
const rewound = async (peer: Peer): Promise<unknown[]> =>
  (await peer.status()).problems.flatMap(({ kind, machine }) => (kind === 'branch_rewound' ? [machine] : []));
const agentsAt = async (peer: Peer): Promise<string[]> =>
  (await peer.api.agents({}, peer.call())).agents.map((agent) => agent.agent_id).sort();

/**
 * What `laptop` sees while the attack on `handle` stands: nothing accepted moves or is lost, the rest of the mesh goes
 * on, and status and doctor name the branch with what to do. Gives that problem.
 */
async function seenBy(victim: Peer, handle: string, kind: string): Promise<Problem & { fix: string }> {
  const accepted = await victim.accepted(handle);
  const [agents, inbox] = [await agentsAt(victim), await laptop.inbox('qa')];
  const word = `unharmed ${++honest}`;
  await desk.send('laptop', word);
  await desk.sync();
  // Twice: what is remembered says the same as what is found.
  for (let rounds = 0; rounds < 2; rounds++) {
    await victim.sync();
    expect(await victim.accepted(handle)).toBe(accepted);
    const { problems } = await victim.status();
    expect(now(problems).map((problem) => [problem.machine, problem.kind])).toEqual([[handle, kind]]);
  }
  if (victim !== laptop) await laptop.sync();
  expect(await laptop.inbox('qa')).toEqual([...inbox, word]);
  expect(await agentsAt(victim)).toEqual(agents);
  const [problem] = now((await victim.api.doctor()).problems).filter((found) => found.machine === handle);
  expect(problem).toMatchObject({ kind, machine: handle });
  if (problem?.fix === undefined) throw new Error('nothing is said of how to go on');
  return { ...problem, fix: problem.fix };
}

/** The way back that was told works: the branch holds again what its machine wrote, and nobody reports a thing. */
async function recovered(owner: Peer): Promise<void> {
  put(owner.handle, owner.tip());
  const word = `again ${++honest}`;
  await owner.send('laptop', word);
  await settle(mesh.peers);
  expect(remoteTip(owner.handle)).toBe(owner.tip());
  expect(await laptop.accepted(owner.handle)).toBe(owner.tip());
  if (owner !== laptop) expect((await laptop.inbox('qa')).at(-1)).toBe(word);
  for (const peer of mesh.peers) expect(now((await peer.status()).problems)).toEqual([]);
}

const note = (id: string, from: string): string =>
  `id: ${id}\ntype: note\nfrom:\n  machine: ${from}\n  agent: boss\nto:\n  machine: laptop\n` +
  `sent_at: "2026-12-02T00:00:00.000Z"\nexpires_at: "2036-12-02T00:00:00.000Z"\npayload:\n  n: forged\n`;
const id = '01KBEST0000000000000000001';
const forged = { path: `messages/laptop/2026-12-02/0000/${id}.yaml`, body: note(id, 'studio') };

test('a commit on top of another machine’s branch that nobody signed is refused, and its owner told', async () => {
  writeBranch(mesh.remote, branch('studio'), [forged]);
  const { message, fix } = await seenBy(laptop, 'studio', 'unsigned');
  expect(message).toContain('is not signed');
  expect(fix).toMatch(/put back to its last own commit/);
  const own = await seenBy(studio, 'studio', 'own_branch_foreign');
  expect(own.fix).toContain('reclaim');
  await recovered(studio);
});

test('a commit on top of another machine’s branch that the attacker’s own key signed is refused', async () => {
  writeBranch(mesh.remote, branch('studio'), [forged], { signedBy: mallory.store.dir });
  const { message } = await seenBy(laptop, 'studio', 'wrong_key');
  expect(message).toContain('is not signed by its key');
  await recovered(studio);
});

test('another machine’s branch that is forged whole, with the attacker’s key in it, is refused by the pin', async () => {
  const machine = studio
    .git('show', `${studio.store.branch}:machine.yaml`)
    .replace(/^key: .*$/m, `key: ${mallory.store.signer.publicKey}`);
  const tip = remoteTip('studio');
  const files = [{ path: 'machine.yaml', body: `${machine}\n` }, forged];
  onRemote('update-ref', '-d', branch('studio'));
  writeBranch(mesh.remote, branch('studio'), files, { signedBy: mallory.store.dir });
  const { fix } = await seenBy(laptop, 'studio', 'wrong_key');
  expect(fix).toContain('somebody else pushes under that name');
  // The same on top of the real history.
  put('studio', tip);
  writeBranch(mesh.remote, branch('studio'), files, { signedBy: mallory.store.dir });
  await seenBy(laptop, 'studio', 'wrong_key');
  await recovered(studio);
});

test('an old tip that is played back takes nothing away, and its owner brings the new one again', async () => {
  const accepted = await laptop.accepted('studio');
  put('studio', onRemote('rev-parse', `${branch('studio')}~2`));
  await laptop.sync();
  expect(await laptop.accepted('studio')).toBe(accepted);
  expect(await rewound(laptop)).toEqual(['studio']);
  expect(await agentsAt(laptop)).toContain('boss');
  await studio.sync();
  expect(remoteTip('studio')).toBe(accepted);
});

test('a branch that is set back and goes on otherwise is refused as rewritten', async () => {
  const [tip, base] = [remoteTip('studio'), onRemote('rev-parse', `${branch('studio')}~2`)];
  for (const signedBy of [undefined, mallory.store.dir]) {
    put('studio', base);
    for (let more = 0; more < 3; more++) {
      writeBranch(mesh.remote, branch('studio'), [{ ...forged, body: `${forged.body}# ${more}\n` }], {
        ...(signedBy === undefined ? {} : { signedBy }),
      });
    }
    const { message, fix } = await seenBy(laptop, 'studio', 'rewritten');
    expect(message).toContain(tip.slice(0, 10));
    expect(fix).toContain('once it holds again what was accepted');
  }
  await recovered(studio);
});

test('a branch that is deleted stays with everyone who has it, and its owner brings it again', async () => {
  const tip = remoteTip('studio');
  const before = (await rewound(laptop)).length;
  onRemote('update-ref', '-d', branch('studio'));
  await laptop.sync();
  expect(await laptop.accepted('studio')).toBe(tip);
  expect(await agentsAt(laptop)).toContain('boss');
  await studio.sync();
  expect(remoteTip('studio')).toBe(tip);
  expect((await rewound(laptop)).length).toBeGreaterThan(before);
});

test('another machine’s signed commit, put onto the attacker’s own branch or a new one, speaks for nobody', async () => {
  const own = mallory.tip();
  put('mallory', remoteTip('studio'));
  const { message } = await seenBy(laptop, 'mallory', 'wrong_identity');
  expect(message).toContain('its machine.yaml names studio');
  put('mallory', own);
  // Its signature on the attacker's content: the header is copied, what it signs is not.
  const raw = onRemote('cat-file', 'commit', remoteTip('studio'));
  const copied = raw
    .replace(/^tree .*/, `tree ${onRemote('rev-parse', `${own}^{tree}`)}`)
    .replace(/^parent .*/m, `parent ${own}`)
    .replace(/^Mesh-Seq: .*$/m, `Mesh-Seq: ${(await mallory.mesh.branches.ownBranch()).seq + 1}`);
  const args = ['--git-dir', mesh.remote, 'hash-object', '-t', 'commit', '-w', '--stdin'];
  put('mallory', stockGit(args, { input: `${copied}\n` }));
  await seenBy(laptop, 'mallory', 'wrong_key');
  await recovered(mallory);
  put('copycat', remoteTip('studio'));
  await seenBy(laptop, 'copycat', 'wrong_identity');
  expect(await laptop.accepted('copycat')).toBeNull();
  onRemote('update-ref', '-d', branch('copycat'));
  await recovered(studio);
});

test('a message on the attacker’s own, well signed branch that claims another sender reaches nobody', async () => {
  const before = await laptop.inbox('qa');
  const good = { path: forged.path.replace(id, '01KBEST0000000000000000002'), body: '' };
  good.body = note('01KBEST0000000000000000002', 'mallory').replace('forged', 'mine');
  const tip = writeBranch(mesh.remote, branch('mallory'), [forged, good], { signedBy: mallory.store.dir });
  await laptop.sync();
  expect(await laptop.accepted('mallory')).toBe(tip);
  expect(await laptop.inbox('qa')).toEqual([...before, 'mine']);
  const { messages } = await laptop.api.inbox({ agent_id: 'qa', limit: 100 }, laptop.call());
  expect(messages.at(-1)).toMatchObject({ from: { machine: 'mallory' } });
  const { problems } = await laptop.api.doctor();
  expect(now(problems)).toMatchObject([{ kind: 'bad_file', machine: 'mallory', path: forged.path }]);
  expect(now(problems)[0]?.message).toContain('studio');
  // The owner of the name that was claimed is not touched by it.
  expect((await studio.api.sent({}, studio.call())).messages.map((message) => message.id)).not.toContain(id);
});

/** What SSH's formats are made of: a length in 4 bytes, then the bytes. */
function field(data: string | Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(data as Uint8Array)]);
}

/** R is the neutral element, S is zero: with a key of small order, node takes it for a signature of (nearly) anything. */
const weakSignature = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]);

test('a new branch whose key is of small order, under which one signature fits everything, is never accepted', async () => {
  const neutral = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
  const blob = Buffer.concat([field('ssh-ed25519'), field(neutral)]);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: neutral.toString('base64url') };
  // Why it must be refused: what this attack rests on does hold.
  expect(verify(null, Buffer.from('anything'), createPublicKey({ key: jwk, format: 'jwk' }), weakSignature)).toBe(true);
  const machine = studio
    .git('show', `${studio.store.branch}:machine.yaml`)
    .replace(/^handle: .*$/m, 'handle: weak')
    .replace(/^key: .*$/m, `key: ssh-ed25519 ${blob.toString('base64')}`);
  const unsigned = writeBranch(mesh.remote, branch('weak'), [{ path: 'machine.yaml', body: `${machine}\n` }]);
  const parts = [blob, field('git'), field(''), field('sha512')];
  const signature = field(Buffer.concat([field('ssh-ed25519'), field(weakSignature)]));
  const signed = Buffer.concat([Buffer.from('SSHSIG\0\0\0\u0001'), field(parts[0]!), ...parts.slice(1), signature]);
  const lines = signed.toString('base64').match(/.{1,70}/g) ?? [];
  const armoured = ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'].join('\n ');
  const raw = `${onRemote('cat-file', 'commit', unsigned)}\n`.replace('\n\n', `\ngpgsig ${armoured}\n\n`);
  const args = ['--git-dir', mesh.remote, 'hash-object', '-t', 'commit', '-w', '--stdin'];
  put('weak', stockGit(args, { input: raw }));
  const { message } = await seenBy(laptop, 'weak', 'wrong_key');
  expect(message).toContain('names a weak key, a point of small order');
  expect(await laptop.accepted('weak')).toBeNull();
  onRemote('update-ref', '-d', branch('weak'));
  await laptop.sync();
  expect(now((await laptop.status()).problems)).toEqual([]);
});

test('a commit on top of the charter takes no newcomer in, and members say what is true of it', async () => {
  const founded = remoteTip('_charter');
  const blob = stockGit(['--git-dir', mesh.remote, 'hash-object', '-w', '--stdin'], {
    input: `${onRemote('show', `${founded}:mesh.yaml`).replace(/name: .*/, 'name: forged')}\n`,
  });
  const tree = stockGit(['--git-dir', mesh.remote, 'mktree'], { input: `100644 blob ${blob}\tmesh.yaml\n` });
  put('_charter', onRemote('commit-tree', tree, '-m', 'x', '-p', founded));
  const root = scratch();
  const args = [launcher, '--dir', join(root, 'store'), '--json', 'join', mesh.remote, '--machine', 'newcomer'];
  const { status, stdout } = spawnSync(process.execPath, args, { env: cleanEnvironment(root), encoding: 'utf8' });
  expect(status).toBe(4);
  expect(stdout).toContain(`push --force REMOTE ${founded}:refs/heads/mesh/_charter`);
  expect(existsSync(join(root, 'store'))).toBe(false);
  expect(remoteTip('newcomer')).toBe('');
  const { message } = await seenBy(studio, '_charter', 'charter_changed');
  expect(message).toContain('Until it is put back, join refuses there');
  put('_charter', founded);
  for (const peer of [studio, laptop, desk]) {
    await peer.sync();
    // What was done to branches before is told for a day.
    expect((await peer.status()).problems.filter(({ kind }) => kind !== 'branch_rewound')).toEqual([]);
  }
});

test('after all of it every store and the repository are sound', () => {
  for (const dir of [mesh.remote, ...mesh.peers.map((peer) => peer.store.dir)]) {
    expect(stockGit(['--git-dir', dir, 'fsck', '--strict', '--no-dangling'])).toBe('');
  }
  const tips = new Set<Oid | string>(mesh.peers.map((peer) => peer.tip()));
  expect(tips.size).toBe(4);
});
