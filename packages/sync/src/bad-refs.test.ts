import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk']);
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
  await studio.checkin('boss');
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const onRemote = (...args: string[]): string => mesh.git.git(['-C', mesh.remote, ...args]);
const breakRef = (handle: string, content: string): void => {
  writeFileSync(join(mesh.remote, 'refs', 'heads', 'mesh', handle), content);
};
const problems = async (peer: Peer): Promise<unknown> =>
  (await peer.status()).problems.map(({ machine, kind }) => [machine, kind]);

test.each([
  ['is empty', '', 'broken_ref'],
  ['is garbage', 'hello\n', 'broken_ref'],
  ['names an object that is not there', `${'1'.repeat(40)}\n`, 'unfetchable'],
])(
  'a branch whose ref file on the remote %s is named, and every other branch goes on',
  async (_what, content, kind) => {
    await desk.send('studio', 'first');
    await desk.sync();
    breakRef('laptop', content);
    const accepted = await studio.accepted('laptop');
    for (let rounds = 0; rounds < 2; rounds++) {
      await studio.sync();
      expect(await studio.accepted('desk')).toBe(desk.tip());
      expect(await studio.accepted('laptop')).toBe(accepted);
      expect(await problems(studio)).toContainEqual(['laptop', kind]);
    }
    expect(await studio.inbox('boss')).toEqual(['first']);
    expect((await studio.api.doctor()).problems.map((problem) => problem.kind)).toContain(kind);
    // Mended: whoever runs the repository removes the ref, and its machine pushes it again.
    rmSync(join(mesh.remote, 'refs', 'heads', 'mesh', 'laptop'));
    await laptop.send('studio', 'again');
    await settle(mesh.peers);
    expect(await studio.accepted('laptop')).toBe(laptop.tip());
    expect(await problems(studio)).toEqual([]);
  },
);

test('a push that the remote refuses because of another branch’s broken ref names that ref', async () => {
  breakRef('laptop', 'hello\n');
  await studio.send('desk', 'waits');
  await studio.sync();
  expect((await studio.facts()).remotes[0]?.error).toMatchObject({ name: 'push_refused' });
  expect((await studio.facts()).remotes[0]?.error?.message).toMatch(/refs\/heads\/mesh\/laptop/);
});

test('a branch whose newest commit lacks its tree on the remote is named, and every other branch goes on', async () => {
  const tip = await laptop.forge({ tree: laptop.treeWith('odd.txt', 'odd') });
  laptop.forcePush(mesh.remote, tip);
  const tree = onRemote('rev-parse', `${tip}^{tree}`);
  rmSync(join(mesh.remote, 'objects', tree.slice(0, 2), tree.slice(2)));
  await desk.send('studio', 'unharmed');
  await desk.sync().catch(() => undefined);
  await studio.sync();
  expect(await problems(studio)).toContainEqual(['laptop', 'unfetchable']);
});

test('one branch with a huge file is named; the others are fetched all the same', async () => {
  const tip = await laptop.forge({ tree: laptop.treeWith('huge.bin', 'x'.repeat(40 * 1024 * 1024)) });
  laptop.forcePush(mesh.remote, tip);
  await desk.send('studio', 'unharmed');
  await desk.sync();
  await studio.sync();
  expect(await problems(studio)).toEqual([['laptop', 'too_large']]);
  expect(await studio.accepted('desk')).toBe(desk.tip());
  expect(await studio.inbox('boss')).toEqual(['unharmed']);
  expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok' });
});

test('a branch whose newest commit no git can read is named, and every other branch goes on', async () => {
  await desk.send('studio', 'unharmed');
  await desk.sync();
  const head = `tree ${onRemote('rev-parse', 'refs/heads/mesh/laptop^{tree}')}\nparent hello\n`;
  const raw = `${head}author a <a@x.invalid> 1 +0000\ncommitter a <a@x.invalid> 1 +0000\n\nx\n`;
  const args = ['-C', mesh.remote, 'hash-object', '-w', '-t', 'commit', '--literally', '--stdin'];
  breakRef('laptop', `${mesh.git.git(args, raw)}\n`);
  await studio.sync();
  expect(await problems(studio)).toContainEqual(['laptop', 'unfetchable']);
  expect(await studio.inbox('boss')).toEqual(['unharmed']);
});
