import { MeshError } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;
let good: Oid;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk']);
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
  await desk.checkin('qa');
  await laptop.checkin('dev');
  await settle(mesh.peers);
  good = laptop.tip();
});
afterEach(() => {
  mesh.remove();
});

const parentOf = (peer: Peer): Oid => peer.git('rev-parse', `${peer.store.branch}~1`) as Oid;

const cases: [string, string, () => Promise<Oid>][] = [
  ['is not signed', 'unsigned', () => laptop.forge({ sign: false })],
  ['is signed by another key', 'wrong_key', () => laptop.forge({ sign: studio })],
  ['skips a number of its counter', 'foreign_commit', () => forgeSeq(2)],
  ['repeats a number of its counter', 'rewritten', () => forgeSeq(0)],
  ['has no counter', 'foreign_commit', () => laptop.forge({ message: 'fix typo\n' })],
  ['has two parents', 'foreign_commit', () => laptop.forge({ parents: [good, studio.tip()] })],
  ['was rewritten', 'rewritten', async () => laptop.forge({ parents: [parentOf(laptop)], seq: await seq() })],
  ['was rewritten and goes further', 'rewritten', rewrittenFurther],
  ['begins anew', 'rewritten', async () => laptop.forge({ parents: [], seq: (await seq()) + 1 })],
  ['names another machine', 'wrong_identity', () => withMachine(/handle: .*/, 'handle: desk')],
  ['belongs to another mesh', 'wrong_identity', () => withMachine(/mesh: .*/, 'mesh: "01K00000000000000000000000"')],
  ['brings another key', 'wrong_key', () => withMachine(/key: .*/, `key: "${studio.store.signer.publicKey}"`)],
  ['has lost its machine.yaml', 'unreadable', () => laptop.forge({ tree: emptied() })],
  ['has a machine.yaml that is no YAML', 'unreadable', () => withMachine(/[\s\S]+/, ': : :\n\t')],
];

async function seq(): Promise<number> {
  return (await laptop.mesh.branches.ownBranch()).seq;
}
const forgeSeq = async (ahead: number): Promise<Oid> => laptop.forge({ seq: (await seq()) + ahead });
async function rewrittenFurther(): Promise<Oid> {
  let at = parentOf(laptop);
  for (let ahead = 0; ahead < 3; ahead++) at = await laptop.forge({ parents: [at], seq: (await seq()) + ahead });
  return at;
}
function withMachine(pattern: RegExp, text: string): Promise<Oid> {
  const content = laptop.git('show', `${laptop.store.branch}:machine.yaml`);
  expect(content).toMatch(pattern);
  return laptop.forge({ tree: laptop.treeWith('machine.yaml', `${content.replace(pattern, text)}\n`) });
}
function emptied(): Oid {
  const blob = laptop.git('rev-parse', `${laptop.store.branch}:machine.yaml`);
  return mesh.git.git(['-C', laptop.store.dir, 'mktree'], `100644 blob ${blob}\tnothing.yaml\n`) as Oid;
}

test.each(cases)(
  'a branch that %s is refused as %s, harms no other, and is accepted once put right',
  async (...row) => {
    const [, kind, forge] = row;
    const bad = await forge();
    laptop.forcePush(mesh.remote, bad);
    await desk.send('studio', 'unharmed');
    await desk.sync();
    for (let rounds = 0; rounds < 2; rounds++) {
      await studio.sync();
      expect(await studio.accepted('laptop')).toBe(good);
      expect((await studio.status()).problems.map((problem) => [problem.machine, problem.kind])).toEqual([
        ['laptop', kind],
      ]);
    }
    expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok' });
    expect(await studio.accepted('desk')).toBe(desk.tip());
    expect((await studio.api.doctor()).problems.map((problem) => problem.kind)).toContain(kind);
    // Another process, which knows only what was written down, says the same.
    const other = await Peer.open(mesh.git, studio.store.dir);
    expect((await other.status()).problems.length).toBe(1);
    expect(studio.git('rev-parse', 'refs/remotes/origin/mesh/laptop')).toBe(bad);

    await laptop.send('studio', 'right again');
    laptop.forcePush(mesh.remote, laptop.tip());
    await studio.sync();
    expect(await studio.accepted('laptop')).toBe(laptop.tip());
    expect((await studio.status()).problems).toEqual([]);
  },
);

test('a branch that was refused and went unreported in a crash is looked at again', async () => {
  const bad = await laptop.forge({ sign: false });
  laptop.forcePush(mesh.remote, bad);
  studio.git('fetch', '--quiet', mesh.remote, '+refs/heads/mesh/laptop:refs/remotes/origin/mesh/laptop');
  await studio.sync();
  expect((await studio.status()).problems.map(({ kind }) => kind)).toEqual(['unsigned']);
});

test('a branch that was put back at the remote is named, and no other problem, and is not walked again each round', async () => {
  await laptop.send('studio', 1);
  await settle(mesh.peers);
  laptop.forcePush(mesh.remote, good);
  await studio.sync();
  expect(await studio.accepted('laptop')).toBe(laptop.tip());
  expect((await studio.status()).problems.map(({ kind }) => kind)).toEqual(['branch_rewound']);
  const lock = vi.spyOn(studio.store, 'withLock');
  await studio.sync();
  expect(lock).not.toHaveBeenCalled();
});

test.each([
  ['an unsigned branch', 'unsigned', { sign: false }],
  ['a branch without a counter', 'foreign_commit', { message: 'hello\n' }],
])('%s is not accepted at first sight', async (_what, kind, change) => {
  const newcomer = await laptop.forge(change);
  laptop.forcePush(mesh.remote, newcomer);
  mesh.git.git(['-C', mesh.remote, 'update-ref', '-d', 'refs/heads/mesh/desk']);
  studio.git('update-ref', '-d', 'refs/heads/mesh/laptop');
  await studio.sync();
  expect(await studio.accepted('laptop')).toBeNull();
  expect((await studio.status()).problems.map((problem) => problem.kind)).toEqual([kind, 'branch_rewound']);
});

test('a tip whose files were left out of what was fetched is refused', async () => {
  const missing = 'a'.repeat(40);
  const folder = mesh.git.git(['-C', laptop.store.dir, 'mktree', '--missing'], `100644 blob ${missing}\tqa.yaml\n`);
  const lines = laptop
    .git('ls-tree', laptop.store.branch)
    .split('\n')
    .filter((line) => !line.endsWith('\tpresence'));
  const broken = mesh.git.git(
    ['-C', laptop.store.dir, 'mktree', '--missing'],
    [...lines, `040000 tree ${folder}\tpresence`, ''].join('\n'),
  ) as Oid;
  const bad = await laptop.forge({ tree: broken });
  // No git would send or take such a commit: its objects are put into both stores by hand.
  for (const type of ['commit', 'tree'] as const) {
    for (const oid of type === 'commit' ? [bad] : [broken, folder]) {
      const bytes = mesh.git.gitBytes(['-C', laptop.store.dir, 'cat-file', type, oid]);
      for (const place of [studio.store.dir, mesh.remote]) {
        mesh.git.git(['-C', place, 'hash-object', '-w', '-t', type, '--literally', '--stdin'], bytes);
      }
    }
  }
  mesh.git.setRef(mesh.remote, 'refs/heads/mesh/laptop' as never, bad);
  await studio.sync();
  expect(await studio.accepted('laptop')).toBe(good);
  expect((await studio.status()).problems.map(({ kind }) => kind)).toEqual(['unreadable']);
  await expect(studio.api.agents({}, studio.call())).resolves.toBeDefined();
});

test('a store that is held does not lose what was fetched meanwhile', async () => {
  await laptop.send('studio', 1);
  await laptop.sync();
  const lock = vi.spyOn(studio.store, 'withLock').mockRejectedValue(new MeshError('locked', 'held'));
  await studio.sync().catch(() => undefined);
  lock.mockRestore();
  expect(await studio.accepted('laptop')).toBe(good);
  await studio.sync();
  expect(await studio.accepted('laptop')).toBe(laptop.tip());
});
