import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExportResult, RefName } from '@git-mesh/core';
import { loseObject } from '@git-mesh/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundleMesh, exported, imported } from '../testing/bundle-mesh.js';
import type { BundleMesh } from '../testing/bundle-mesh.js';
import { Peer } from '../testing/remote-mesh.js';
import { exportBundle } from './export.js';

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

const empty = (): string => mesh.git.bare('empty.git');
const verify = (repository: string, file: string): string => mesh.git.git(['-C', repository, 'bundle', 'verify', file]);

test('a full bundle is whole to stock git: it verifies in an empty repository, clones and fetches, and fsck is content', async () => {
  await studio.checkin('boss');
  const { file, branches, commits } = await exported(mesh.git, studio);
  const bare = empty();
  verify(bare, file);
  mesh.git.git(['-C', bare, 'fetch', '--quiet', file, 'refs/*:refs/x/*']);
  mesh.git.git(['-C', bare, 'fsck', '--strict', '--full']);
  expect(mesh.git.refs(bare).get('refs/x/heads/mesh/studio' as RefName)).toBe(studio.tip());
  expect(mesh.git.refs(bare).get('refs/x/heads/mesh/lab' as RefName)).toBe(lab.tip());
  expect(branches).toBe(3);
  expect(String(commits)).toBe(mesh.git.git(['-C', bare, 'rev-list', '--all', '--count']));
  mesh.git.git(['clone', '--quiet', file, mesh.git.path('clone')]);
  expect(readdirSync(mesh.git.path('clone'))).toContain('README.md');
});

test('an incremental one holds what is new and names what it goes on from; an older store takes the two in order', async () => {
  const first = await exported(mesh.git, studio, 'lab');
  await studio.checkin('boss');
  await studio.send('*', 1);
  const second = await exported(mesh.git, studio, 'lab');
  expect(second).toMatchObject({ branches: 1, commits: 2 });
  const bare = empty();
  expect(() => verify(bare, second.file)).toThrow(/lacks these prerequisite/);
  for (const { file } of [first, second]) {
    mesh.git.git(['-C', bare, 'fetch', '--quiet', file, 'refs/heads/mesh/*:refs/heads/mesh/*']);
    verify(bare, file);
  }
  expect(mesh.git.refs(bare).get(studio.store.branch)).toBe(studio.tip());
  mesh.git.git(['-C', bare, 'fsck', '--strict', '--full']);
});

test('where nothing is new since the last export of a name, no file is written and an older one stays', async () => {
  const file = mesh.git.path('lab.bundle');
  const again = (sinceLast: string): Promise<ExportResult> => exportBundle(studio.mesh, { file, sinceLast });
  await again('lab');
  const before = readFileSync(file);
  expect(await again('LAB')).toMatchObject({ branches: 0, commits: 0 });
  expect(readFileSync(file).equals(before)).toBe(true);
  rmSync(file);
  await again('lab');
  expect(existsSync(file)).toBe(false);
  expect((await again('another')).branches).toBe(3);
});

test('a full export makes up for a lost one and leaves the memory of every name alone', async () => {
  await exported(mesh.git, studio, 'lab');
  await studio.checkin('boss');
  await exported(mesh.git, studio, 'lab');
  await studio.send('*', 1);
  const third = await exported(mesh.git, studio, 'lab');
  await expect(imported(lab, third.file)).rejects.toMatchObject({ errorName: 'bundle_incomplete' });
  await studio.send('*', 2);
  await imported(lab, (await exported(mesh.git, studio)).file);
  await studio.send('*', 3);
  const fourth = await exported(mesh.git, studio, 'lab');
  expect(fourth.commits).toBe(2);
  await imported(lab, fourth.file);
  expect(await lab.accepted('studio')).toBe(studio.tip());
});

test.each(['../x', '', '-x', 'con', 'a/b', 'a'.repeat(65), 'x.'])(
  '"%s" is no name to remember an export by',
  async (name) => {
    const file = mesh.git.path('x.bundle');
    await expect(exportBundle(studio.mesh, { file, sinceLast: name })).rejects.toMatchObject({
      errorName: 'invalid_argument',
    });
    expect(existsSync(file)).toBe(false);
  },
);

test('a damaged memory costs a full export and nothing else', async () => {
  await exported(mesh.git, studio, 'lab');
  const memory = join(studio.store.dir, 'mesh', 'exports', 'lab.json');
  for (const text of ['', '{', '[]', '{"tips":{"refs/heads/mesh/studio":"x"}}', '{"tips":7}']) {
    writeFileSync(memory, text);
    expect((await exported(mesh.git, studio, 'lab')).branches).toBe(3);
  }
});

test('a branch that does not go on from what was exported goes whole', async () => {
  await exported(mesh.git, studio, 'lab');
  const memory = join(studio.store.dir, 'mesh', 'exports', 'lab.json');
  writeFileSync(memory, readFileSync(memory, 'utf8').replace(studio.tip(), lab.tip()));
  const { file } = await exported(mesh.git, studio, 'lab');
  const bare = empty();
  mesh.git.git([
    '-C',
    bare,
    'fetch',
    '--quiet',
    (await exported(mesh.git, lab)).file,
    'refs/heads/mesh/_*:refs/heads/mesh/_*',
  ]);
  mesh.git.git(['-C', bare, 'fetch', '--quiet', file, 'refs/heads/mesh/*:refs/heads/mesh/*']);
  expect(mesh.git.refs(bare).get(studio.store.branch)).toBe(studio.tip());
});

test('another machine’s branch whose history is not whole here is left out and named, and holds up no other', async () => {
  await lab.checkin('qa');
  await mesh.carry(lab, studio);
  const blob = lab.git('rev-parse', `${lab.store.branch}~1:machine.yaml`);
  loseObject(studio.store.dir, blob);
  // What the other one read is in its cache.
  const result = await exported(mesh.git, await Peer.open(mesh.git, studio.store.dir));
  expect(result).toMatchObject({ branches: 2, left_out: [{ machine: 'lab' }] });
  verify(empty(), result.file);
});

test('a target that is no file, or cannot be written, is refused in words, and no memory is kept of it', async () => {
  mkdirSync(mesh.git.path('folder'));
  const to = (...path: string[]): Promise<ExportResult> =>
    exportBundle(studio.mesh, { file: mesh.git.path(...path), sinceLast: 'lab' });
  await expect(to('folder')).rejects.toMatchObject({ errorName: 'invalid_argument' });
  await expect(to('none', 'x.bundle')).rejects.toMatchObject({ errorName: 'not_found' });
  expect((await to('x.bundle')).branches).toBe(3);
});

test.skipIf(process.platform === 'win32')('a device is not replaced by a file', async () => {
  const broken = exportBundle(studio.mesh, { file: '/dev/null' });
  await expect(broken).rejects.toMatchObject({ errorName: 'invalid_argument' });
});

test('an export that is broken off leaves the old file and nothing else', async () => {
  const file = mesh.git.path('out', 'x.bundle');
  mkdirSync(mesh.git.path('out'));
  writeFileSync(file, 'old');
  const stop = new AbortController();
  stop.abort();
  const broken = exportBundle(studio.mesh, { file, signal: stop.signal, sinceLast: 'lab' });
  await expect(broken).rejects.toMatchObject({ errorName: 'cancelled' });
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(mesh.git.path('out'))).toEqual(['x.bundle']);
  expect((await exportBundle(studio.mesh, { file, sinceLast: 'lab' })).branches).toBe(3);
});

test.skipIf(process.platform === 'win32')('a file gets the permissions that are asked for', async () => {
  const file = mesh.git.path('x.bundle');
  await exportBundle(studio.mesh, { file, mode: 0o600 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
