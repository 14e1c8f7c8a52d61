import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ImportResult, Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundleMesh, exported, imported, problemsAt } from '../testing/bundle-mesh.js';
import type { BundleMesh } from '../testing/bundle-mesh.js';
import { Peer } from '../testing/remote-mesh.js';
import { formatHeader } from './header.js';
import { importBundle } from './import.js';

let mesh: BundleMesh;
let studio: Peer;
let lab: Peer;

beforeEach(async () => {
  mesh = await bundleMesh(['studio', 'lab']);
  // Two were asked for.
  [studio, lab] = mesh.peers as [Peer, Peer];
});

afterEach(() => {
  mesh.remove();
});

/** A bundle that stock git makes in the store of a machine. */
function byGit(peer: Peer, ...what: string[]): string {
  const file = mesh.git.path('git.bundle');
  const options = what.filter((word) => word.startsWith('--version'));
  const revisions = what.filter((word) => !options.includes(word));
  mesh.git.git(['-C', peer.store.dir, 'bundle', 'create', '--quiet', ...options, file, ...revisions]);
  return file;
}

/** A bundle with any header and the objects that git packs for `wants`. */
function made(
  peer: Peer,
  refs: readonly { ref: string; oid: Oid }[],
  wants: readonly Oid[],
  haves: Oid[] = [],
): string {
  const file = mesh.git.path('made.bundle');
  const header = formatHeader({ prerequisites: haves.map((oid) => ({ oid, comment: '' })), refs });
  writeFileSync(file, Buffer.concat([header, mesh.git.pack(peer.store.dir, wants, haves)]));
  return file;
}

const refused = (peer: Peer, file: string): Promise<unknown> =>
  imported(peer, file).then(
    () => null,
    (error: unknown) => error,
  );
const nothing: Partial<ImportResult> = { branches: 0, commits: 0, arrived: 0 };

test('what a bundle brings arrives once, however often it is imported and in whatever order', async () => {
  await lab.checkin('qa');
  await studio.send('lab', 1);
  const first = (await exported(mesh.git, studio, 'lab')).file;
  await studio.send('lab', 2);
  const second = (await exported(mesh.git, studio, 'lab')).file;
  await studio.send('lab', 3);
  const third = (await exported(mesh.git, studio, 'lab')).file;

  const error = await refused(lab, third);
  expect(error).toMatchObject({ errorName: 'bundle_incomplete', data: { missing_count: 1 } });
  expect(String(error)).toMatch(/refs\/heads\/mesh\/studio.*without --since-last/);
  expect(await lab.inbox('qa')).toEqual([]);

  expect(await imported(lab, first)).toMatchObject({ branches: 1, arrived: 1 });
  expect(await imported(lab, second)).toMatchObject({ branches: 1, arrived: 1 });
  expect(await imported(lab, first)).toMatchObject(nothing);
  expect(await imported(lab, third)).toMatchObject({ branches: 1, commits: 1, arrived: 1 });
  for (const file of [third, first, second])
    expect(await imported(lab, file)).toMatchObject({ ...nothing, rejected: [] });
  expect(await lab.inbox('qa')).toEqual([1, 2, 3]);
  expect(await problemsAt(lab)).toEqual([]);
  lab.git('fsck', '--strict');
});

test('a machine carries what others wrote, and receipts and acks come back the same way', async () => {
  const more = await bundleMesh(['a', 'b', 'c']);
  try {
    const [a, b, c] = more.peers as [Peer, Peer, Peer];
    await c.checkin('qa');
    await a.checkin('boss');
    // a and c never meet: b goes to and fro.
    await more.carry(c, b);
    await more.carry(b, a);
    await a.send('c', 1, { to_agent: 'qa' });
    await more.carry(a, b, 'b');
    expect(await more.carry(b, c)).toMatchObject({ arrived: 1 });
    const [message] = (await c.api.inbox({ agent_id: 'qa' }, c.call())).messages;
    const stateAtA = async (): Promise<unknown> => (await a.api.sent({}, a.call())).messages[0]?.state;
    expect(await stateAtA()).toBe('queued');
    await more.carry(c, b, 'b');
    await more.carry(b, a);
    expect(await stateAtA()).toBe('delivered');
    await c.api.ack({ agent_id: 'qa', message_ids: [message?.message_id], confirm: true }, c.call());
    await more.carry(c, b, 'b');
    await more.carry(b, a);
    expect(await stateAtA()).toBe('acked');
    for (const peer of more.peers) peer.git('fsck', '--strict');
  } finally {
    more.remove();
  }
});

test('bundles that git makes of a store are taken in: whole, of version 3, and thin ones of many objects', async () => {
  await lab.checkin('qa');
  await studio.checkin('boss');
  await studio.send('lab', 0);
  expect(await imported(lab, byGit(studio, '--all'))).toMatchObject({ branches: 1, arrived: 1, rejected: [] });
  await studio.send('lab', 1);
  expect(await imported(lab, byGit(studio, '--version=3', '--branches'))).toMatchObject({ arrived: 1 });
  const base = studio.tip();
  for (let n = 2; n < 62; n++) await studio.send('lab', n);
  const thin = byGit(studio, '--all', `^${base}`);
  const header = readFileSync(thin);
  const pack = header.subarray(header.indexOf('\n\n') + 2);
  expect(pack.readUInt32BE(8)).toBeGreaterThan(200);
  expect(() => mesh.git.git(['-C', mesh.git.bare('x.git'), 'index-pack', '--stdin'], pack)).toThrow(/unresolved delta/);
  expect(await imported(lab, thin)).toMatchObject({ branches: 1, commits: 60, arrived: 60, rejected: [] });
  lab.git('fsck', '--strict');
});

test.each([
  ['as it is cloned', []],
  ['with a branch of the mesh checked out', ['--branch', 'mesh/_charter']],
])('a bundle of a plain clone of the shared repository is taken in, %s', async (_how, options) => {
  const hub = mesh.git.bare('hub.git');
  studio.git('push', '--quiet', hub, 'refs/heads/*:refs/heads/*', 'refs/heads/mesh/_charter:refs/heads/main');
  await lab.checkin('qa');
  await studio.send('lab', 1);
  studio.git('push', '--quiet', hub, 'refs/heads/*:refs/heads/*');
  mesh.git.git(['clone', '--quiet', ...options, hub, mesh.git.path('clone')]);
  const file = mesh.git.path('clone.bundle');
  mesh.git.git(['-C', mesh.git.path('clone'), 'bundle', 'create', '--quiet', file, '--all']);
  expect(await imported(lab, file)).toMatchObject({ branches: 1, arrived: 1, rejected: [] });
});

test('what does not pass the checks of a fetch stays where it was, is named, and ends with the next good bundle', async () => {
  const before = await lab.accepted('studio');
  const unsigned = await studio.forge({ sign: false });
  const forged = await studio.forge({ sign: lab });
  const rewritten = await studio.forge({ parents: [], seq: 9 });
  for (const [oid, kind] of [
    [unsigned, 'unsigned'],
    [forged, 'wrong_key'],
    [rewritten, 'rewritten'],
  ] as const) {
    const file = made(studio, [{ ref: studio.store.branch, oid }], [oid]);
    expect(await imported(lab, file)).toMatchObject({ ...nothing, rejected: [{ machine: 'studio', kind }] });
    expect(await imported(lab, file)).toMatchObject({ ...nothing, rejected: [{ machine: 'studio', kind }] });
    expect(await lab.accepted('studio')).toBe(before);
    expect(await problemsAt(lab)).toEqual([`studio: ${kind}`]);
  }
  // A bundle that does not speak of the branch changes nothing of that.
  const other = made(studio, [{ ref: lab.store.branch, oid: lab.tip() }], [lab.tip()]);
  expect(await imported(lab, other)).toMatchObject({ ...nothing, rejected: [] });
  expect(await problemsAt(lab)).toEqual(['studio: rewritten']);
  await studio.checkin('boss');
  expect(await mesh.carry(studio, lab)).toMatchObject({ branches: 1, rejected: [] });
  expect(await problemsAt(lab)).toEqual([]);
});

test('one branch that does not pass holds up no other, and a tip that is not in the bundle is never made a ref', async () => {
  const absent = 'd'.repeat(40) as Oid;
  await studio.checkin('boss');
  const refs = [
    { ref: 'refs/heads/mesh/ghost', oid: absent },
    { ref: studio.store.branch, oid: studio.tip() },
    { ref: 'refs/heads/mesh/twin', oid: studio.tip() },
    { ref: 'refs/heads/main', oid: studio.tip() },
    { ref: 'refs/heads/mesh/no such', oid: studio.tip() },
    { ref: 'refs/tags/v1', oid: studio.tip() },
  ];
  const result = await imported(lab, made(studio, refs, [studio.tip()]));
  expect(result).toMatchObject({ branches: 1 });
  expect(result.rejected.map(({ machine, kind }) => [machine, kind])).toEqual([
    ['twin', 'wrong_identity'],
    ['ghost', 'unreadable'],
  ]);
  const mine = [...mesh.git.refs(lab.store.dir).keys()].filter((ref) => !ref.startsWith('refs/remotes/'));
  expect(mine.sort()).toEqual(['refs/heads/mesh/_charter', 'refs/heads/mesh/lab', 'refs/heads/mesh/studio']);
  lab.git('fsck', '--strict');
});

test('a bundle of another mesh moves nothing, whether whole or incremental', async () => {
  const other = await bundleMesh(['studio', 'yard']);
  try {
    const [theirs, yard] = other.peers as [Peer, Peer];
    await yard.checkin('qa');
    const whole = await exported(other.git, yard, 'x');
    await yard.checkin('qb');
    for (const { file } of [whole, await exported(other.git, yard, 'x')]) {
      expect(await refused(lab, file)).toMatchObject({ errorName: 'different_mesh' });
    }
    // Without its charter each branch is refused for itself.
    const branch = mesh.git.path('branch.bundle');
    theirs.git('bundle', 'create', '--quiet', branch, yard.store.branch);
    const { rejected } = await imported(lab, branch);
    expect(rejected).toMatchObject([{ machine: 'yard', kind: 'wrong_identity' }]);
  } finally {
    other.remove();
  }
});

test('a bundle that is cut or changed anywhere moves nothing, and the whole one is taken in afterwards', async () => {
  await lab.checkin('qa');
  await studio.send('lab', 1);
  const { file } = await exported(mesh.git, studio);
  const whole = readFileSync(file);
  const bad = mesh.git.path('bad.bundle');
  const packAt = whole.indexOf('\n\n') + 2;
  const step = Math.ceil(whole.length / 40);
  for (let at = 1; at < whole.length; at += step) {
    writeFileSync(bad, whole.subarray(0, at));
    expect(await refused(lab, bad)).toMatchObject({ name: 'MeshError' });
  }
  for (let at = packAt; at < whole.length; at += step) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    writeFileSync(bad, changed);
    expect(await refused(lab, bad)).toMatchObject({ errorName: 'protocol_error' });
  }
  writeFileSync(bad, Buffer.concat([whole, Buffer.from('x')]));
  expect(await refused(lab, bad)).toMatchObject({ errorName: 'protocol_error' });
  expect(await lab.inbox('qa')).toEqual([]);
  lab.git('fsck', '--strict');
  expect(await imported(lab, file)).toMatchObject({ arrived: 1 });

  // Also where all of it is here already.
  for (const bytes of [whole.subarray(0, -20), whole.subarray(0, packAt), Buffer.concat([whole, Buffer.from('x')])]) {
    writeFileSync(bad, bytes);
    expect(await refused(lab, bad)).toMatchObject({ errorName: 'protocol_error' });
  }
  const changed = Buffer.from(whole);
  changed[packAt + 40] = (changed[packAt + 40] ?? 0) ^ 1;
  writeFileSync(bad, changed);
  expect(await refused(lab, bad)).toMatchObject({ errorName: 'protocol_error' });
  expect(await imported(lab, file)).toMatchObject(nothing);
});

test('thousands of refs outside the mesh are ignored, and thousands inside it are refused', async () => {
  await studio.checkin('boss');
  const tip = studio.tip();
  const many = (prefix: string): string =>
    made(
      studio,
      [
        ...Array.from({ length: 6_000 }, (_, n) => ({ ref: `${prefix}x${n}`, oid: tip })),
        { ref: studio.store.branch, oid: tip },
      ],
      [tip],
    );
  expect(await refused(lab, many('refs/heads/mesh/'))).toMatchObject({ errorName: 'payload_too_large' });
  expect(await imported(lab, many('refs/heads/other/'))).toMatchObject({ branches: 1, rejected: [] });
});

test('an object past the limit of a fetch is refused', async () => {
  const blob = mesh.git.git(['-C', studio.store.dir, 'hash-object', '-w', '--stdin'], Buffer.alloc(33 * 1024 * 1024));
  const tree = mesh.git.git(['-C', studio.store.dir, 'mktree'], `100644 blob ${blob}\tbig\n`);
  const oid = await studio.forge({ tree: tree as Oid });
  const file = made(studio, [{ ref: studio.store.branch, oid }], [oid]);
  expect(await refused(lab, file)).toMatchObject({ errorName: 'payload_too_large' });
});

test.each([
  ['garbage', 'not at all', 'invalid_argument'],
  ['nothing', '', 'invalid_argument'],
  ['a bundle of no mesh', `# v2 git bundle\n${'a'.repeat(40)} refs/heads/main\n\n`, 'not_found'],
])('%s is refused by name', async (_what, content, errorName) => {
  const file = mesh.git.path('x');
  writeFileSync(file, content);
  expect(await refused(lab, file)).toMatchObject({ errorName, message: expect.stringContaining(file) as string });
  rmSync(file);
  expect(await refused(lab, file)).toMatchObject({ errorName: 'not_found' });
  expect(await refused(lab, mesh.git.root)).toMatchObject({ errorName: 'invalid_argument' });
});

test('a store that was put back from a backup takes its own branch back from a bundle, and no foreign commits on it', async () => {
  await studio.checkin('boss');
  const backup = mesh.git.path('backup');
  cpSync(studio.store.dir, backup, { recursive: true });
  await studio.send('lab', 1);
  await studio.send('lab', 2);
  await mesh.carry(studio, lab);
  const tip = studio.tip();
  const restored = await Peer.open(mesh.git, backup);
  const foreign = await lab.forge({ sign: lab, parents: [tip], seq: 99 });
  const theirs = made(lab, [{ ref: studio.store.branch, oid: foreign }], [foreign]);
  expect(await imported(restored, theirs)).toMatchObject({
    rejected: [{ machine: 'studio', kind: 'own_branch_foreign' }],
  });
  expect(restored.tip()).not.toBe(tip);
  expect(await imported(restored, (await exported(mesh.git, lab)).file)).toMatchObject({ branches: 2, commits: 3 });
  expect(restored.tip()).toBe(tip);
  // Its files are others than those that were there last: no number that it may have given is given again.
  expect(await restored.send('lab', 3)).toBeGreaterThan(10_000);
  expect(await problemsAt(restored)).toEqual([]);
});

test('an import that died before it moved a ref, or before it numbered what arrived, is healed by the next', async () => {
  await lab.checkin('qa');
  await studio.send('lab', 1);
  const { file } = await exported(mesh.git, studio);
  const bytes = readFileSync(file);
  await lab.store.objects.installPack(bytes.subarray(bytes.indexOf('\n\n') + 2), { maxObjectBytes: 1 << 20 });
  expect(await imported(lab, file)).toMatchObject({ branches: 1, arrived: 1 });
  await studio.send('lab', 2);
  const next = await exported(mesh.git, studio);
  mesh.git.git(['-C', lab.store.dir, 'fetch', '--quiet', next.file, `${studio.store.branch}:${studio.store.branch}`]);
  expect(await imported(lab, next.file)).toMatchObject({ branches: 0, arrived: 1 });
  expect(await lab.inbox('qa')).toEqual([1, 2]);
});

test('a stream is read to its end even where all of it is here, so that whoever writes it is not broken off', async () => {
  const { file } = await exported(mesh.git, studio);
  let ended = false;
  async function* stream(): AsyncGenerator<Uint8Array, void> {
    const bytes = readFileSync(file);
    for (let at = 0; at < bytes.length; at += 100) yield await Promise.resolve(bytes.subarray(at, at + 100));
    ended = true;
  }
  const result = await importBundle({ mesh: lab.mesh, states: lab.states }, { file: '-', source: stream() });
  expect(result).toMatchObject({ file: '-', ...nothing });
  expect(ended).toBe(true);
});

test('a ref of a mesh under another prefix is no branch of this one', async () => {
  await studio.checkin('boss');
  const file = made(studio, [{ ref: 'refs/mesh/studio', oid: studio.tip() }], [studio.tip()]);
  expect(await refused(lab, file)).toMatchObject({ errorName: 'not_found', message: /refs\/heads\/mesh\// });
});
