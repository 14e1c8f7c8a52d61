import { afterEach, beforeEach, expect, test } from 'vitest';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let founded: string;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
  await studio.checkin('boss');
  await settle(mesh.peers);
  founded = onRemote('rev-parse', 'refs/heads/mesh/_charter');
});
afterEach(() => {
  mesh.remove();
});

function onRemote(...args: string[]): string {
  return mesh.git.git(['-C', mesh.remote, ...args]);
}
/** Puts a charter with this mesh.yaml on the remote, on top of the founding or in its place. */
function putCharter(edit: (yaml: string) => string, place: 'on top' | 'instead'): void {
  const yaml = edit(`${onRemote('show', `${founded}:mesh.yaml`)}\n`);
  const blob = mesh.git.git(['-C', mesh.remote, 'hash-object', '-w', '--stdin'], yaml);
  const tree = mesh.git.git(['-C', mesh.remote, 'mktree'], `100644 blob ${blob}\tmesh.yaml\n`);
  const parent = place === 'on top' ? ['-p', founded] : [];
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.invalid'];
  const commit = mesh.git.git([...identity, '-C', mesh.remote, 'commit-tree', tree, '-m', 'charter', ...parent]);
  onRemote('update-ref', 'refs/heads/mesh/_charter', commit);
}
const garbage = (): string => ': : :\n\t';
const later = (yaml: string): string => yaml.replace('format: 1', 'format: 2');
const other = (yaml: string): string => yaml.replace(/mesh: .*/, 'mesh: 01K00000000000000000000000');
const renamed = (yaml: string): string => yaml.replace(/name: .*/, 'name: mine now');

test.each([
  ['garbage on top', garbage, 'on top'],
  ['a later format on top', later, 'on top'],
  ['another mesh on top', other, 'on top'],
  ['another name on top', renamed, 'on top'],
  ['garbage in its place', garbage, 'instead'],
  ['another name in its place', renamed, 'instead'],
] as const)('with %s of the charter, members go on and name the file', async (_what, edit, place) => {
  putCharter(edit, place);
  await laptop.send('studio', 'still here');
  for (let rounds = 0; rounds < 2; rounds++) {
    await laptop.sync();
    await studio.sync();
    const status = await studio.status();
    expect(status.problems.map(({ kind }) => kind)).toEqual(['charter_changed']);
    expect(status.problems[0]?.message).toMatch(/mesh\.yaml/);
    expect(status.problems[0]?.message).toContain(founded);
    expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok' });
  }
  expect(await studio.inbox('boss')).toEqual(['still here']);
  expect(studio.git('rev-parse', 'refs/heads/mesh/_charter')).toBe(founded);
  // Another process, which knows only what was written down, says the same; put back, it is forgotten.
  expect((await (await Peer.open(mesh.git, studio.store.dir)).status()).problems.length).toBe(1);
  onRemote('update-ref', 'refs/heads/mesh/_charter', founded);
  await studio.sync();
  expect((await studio.status()).problems).toEqual([]);
});

test.each([
  ['another mesh', other, 'different_mesh', /another mesh/],
  ['a later format', later, 'format_too_new', /mesh\.yaml.*update git-mesh/],
] as const)('with %s in its place nothing is exchanged', async (_what, edit, name, words) => {
  putCharter(edit, 'instead');
  const before = mesh.git.refs(mesh.remote);
  await studio.send('laptop', 'waits');
  for (let rounds = 0; rounds < 2; rounds++) {
    await studio.sync();
    const [remote] = (await studio.facts()).remotes;
    expect(remote).toMatchObject({ state: 'error', error: { name } });
    expect(remote?.error?.message).toMatch(words);
  }
  expect(mesh.git.refs(mesh.remote)).toEqual(before);
});

test('a store that lost its copy of the charter takes it from the remote', async () => {
  studio.git('update-ref', '-d', 'refs/heads/mesh/_charter');
  studio.git('update-ref', '-d', 'refs/remotes/origin/mesh/_charter');
  await studio.sync();
  expect(studio.git('rev-parse', 'refs/heads/mesh/_charter')).toBe(founded);
});
