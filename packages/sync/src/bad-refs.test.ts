import { Readable } from 'node:stream';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMesh } from './join.js';
import { HttpGitServer } from './testing/http-git-server.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';
import { httpTransport } from './transport/http.js';
import type { Transport } from './transport/port.js';

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
  // Stock git ends its words about this with a NUL.
  expect(JSON.stringify((await studio.facts()).problems)).not.toContain('u0000');
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

/** Puts a commit on laptop's branch that no git can parse. */
function breakLaptop(): void {
  const head = `tree ${onRemote('rev-parse', 'refs/heads/mesh/laptop^{tree}')}\nparent hello\n`;
  const raw = `${head}author a <a@x.invalid> 1 +0000\ncommitter a <a@x.invalid> 1 +0000\n\nx\n`;
  const args = ['-C', mesh.remote, 'hash-object', '-w', '-t', 'commit', '--literally', '--stdin'];
  breakRef('laptop', `${mesh.git.git(args, raw)}\n`);
}

test('a branch whose newest commit no git can read is named, and every other branch goes on', async () => {
  await desk.send('studio', 'unharmed');
  await desk.sync();
  breakLaptop();
  await studio.sync();
  expect(await problems(studio)).toContainEqual(['laptop', 'unfetchable']);
  expect(await studio.inbox('boss')).toEqual(['unharmed']);
});

/** A commit of laptop's tree that git takes for one, whatever stands behind `tree …`. */
function commitThere(rest: string): string {
  const tree = onRemote('rev-parse', 'refs/heads/mesh/laptop^{tree}');
  const args = ['-C', mesh.remote, 'hash-object', '-w', '-t', 'commit', '--literally', '--stdin'];
  return mesh.git.git(args, `tree ${tree}\n${rest}`);
}

/** Answers nothing at all to who asks for `oid`, as a server does whose git died and whose words went to its own log. */
const mute = (transport: Transport, oid: string): Transport => ({
  ...transport,
  async open(service, options) {
    const exchange = await transport.open(service, options);
    const isAsked = (body: unknown): boolean => body instanceof Uint8Array && Buffer.from(body).includes(`want ${oid}`);
    return {
      advertised: exchange.advertised,
      post: (body) => (isAsked(body) ? Readable.from([]) : exchange.post(body)),
      close: () => exchange.close(),
    };
  },
});

const people = 'author a <a@x.invalid> 1 +0000\ncommitter a <a@x.invalid> 1 +0000\n\nx\n';

test.each([
  [
    'http, where git dies of one branch without a word',
    () => commitThere(`parent ${commitThere(`parent hello\n${people}`)}\n${people}`),
  ],
  ['http, with a branch that is no commit to us', () => commitThere('author')],
])('the others are fetched over %s, and it alone is named', async (_what, make) => {
  const server = await HttpGitServer.start({ root: mesh.git.root, env: mesh.git.env });
  try {
    await desk.send('studio', 'unharmed');
    await desk.sync();
    const bad = make();
    breakRef('laptop', `${bad}\n`);
    const [remote] = studio.remotes;
    if (remote === undefined) throw new Error('studio has no remote');
    remote.transport = mute(httpTransport({ url: server.url('remote.git'), env: mesh.git.env }), bad);
    for (let rounds = 0; rounds < 2; rounds++) {
      await studio.sync();
      expect(await problems(studio)).toEqual([['laptop', expect.stringMatching(/unfetchable|unreadable/)]]);
      expect(await studio.inbox('boss')).toEqual(['unharmed']);
      expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok', queued: 0 });
    }
  } finally {
    await server.close();
  }
});

test('a machine joins over http beside a branch of which git dies when it is asked for a part', async () => {
  const server = await HttpGitServer.start({ root: mesh.git.root, env: mesh.git.env });
  try {
    breakRef('laptop', `${commitThere(`parent ${commitThere(`parent hello\n${people}`)}\n${people}`)}\n`);
    const setup = { env: mesh.git.env, logger: silentLogger, machine: 'late', hostname: 'late' };
    const dir = mesh.git.path('late');
    expect(await joinMesh({ ...setup, dir, url: server.url('remote.git'), allowPublic: true })).toMatchObject({
      machine: 'late',
    });
    const late = await Peer.open(mesh.git, dir);
    expect(await late.accepted('desk')).toBe(desk.tip());
  } finally {
    await server.close();
  }
});
