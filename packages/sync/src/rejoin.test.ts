import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { MembershipResult, RefName } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { openMesh } from './open.js';
import { GitFixture } from './testing/git-fixture.js';
import { Peer } from './testing/remote-mesh.js';

let git: GitFixture;
let remote: string;

beforeEach(() => {
  git = new GitFixture();
  remote = git.bare('remote.git');
});
afterEach(() => {
  git.remove();
});

const base = (machine: string) => ({
  dir: git.path(machine),
  env: process.env,
  logger: silentLogger,
  hostname: 'Host.example.org',
  machine,
});
const init = (machine: string, extra: object = {}): Promise<MembershipResult> =>
  initMesh({ ...base(machine), remote, ...extra });
const joins = (machine: string, extra: object = {}): Promise<MembershipResult> =>
  joinMesh({ ...base(machine), url: remote, ...extra });
const refs = (): string[] => [...git.refs(remote).keys()].sort();
const whole = ['refs/heads/main', 'refs/heads/mesh/_charter', 'refs/heads/mesh/studio'];
const drop = (...names: string[]): void => {
  for (const ref of names) git.git(['-C', remote, 'update-ref', '-d', ref]);
};
const hook = (script: string | null): void => {
  const path = join(remote, 'hooks', 'pre-receive');
  rmSync(path, { force: true });
  if (script === null) return;
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
};
const stores = (): string[] => readdirSync(git.root).filter((name) => name !== 'remote.git');

test('the same init again pushes what the remote lacks, and is content where it lacks nothing', async () => {
  const made = await init('studio');
  for (const missing of [whole, ['refs/heads/mesh/studio'], []]) {
    drop(...missing);
    expect(await init('studio')).toEqual(made);
    expect(refs()).toEqual(whole);
  }
});

test('another init where a store stands is refused with what differs, and changes nothing', async () => {
  await init('studio');
  const other = git.bare('other.git');
  const differing: [object, RegExp][] = [
    [{ machine: 'tower' }, /called studio and not tower/],
    [{ policy: 'roster' }, /with the policy open and not roster/],
    [{ refPrefix: 'refs/mesh/' }, /branches under refs\/heads\/mesh\/ and not refs\/mesh\//],
    [{ label: 'The studio' }, /label/],
    [{ remote: other }, /with the remote .*remote\.git and not .*other\.git .*git mesh remote add/],
    [{ remote: undefined }, /this machine is studio in the mesh remote, with the remote/],
  ];
  for (const [extra, message] of differing) {
    const refused = initMesh({ ...base('studio'), remote, ...extra });
    await expect(refused).rejects.toMatchObject({ errorName: 'mesh_exists', message: expect.stringMatching(message) as string }); // prettier-ignore
  }
  await joins('laptop');
  await expect(init('laptop')).rejects.toThrow(/which another machine founded/);
  expect(git.refs(other).size).toBe(0);
});

test('a founding that never reached the remote, where another mesh is now, is told and left alone', async () => {
  await init('studio');
  drop(...whole);
  await init('tower');
  const before = git.refs(remote);
  await expect(init('studio')).rejects.toMatchObject({
    errorName: 'mesh_exists',
    message: expect.stringMatching(/not on .*remote\.git.*git mesh join/) as string,
  });
  expect(git.refs(remote)).toEqual(before);
  expect(existsSync(git.path('studio', 'mesh', 'config.json'))).toBe(true);
});

test('init again where the remote refuses keeps the store, says so, and succeeds later', async () => {
  await init('studio');
  drop(...whole);
  hook('echo "not today" >&2; exit 1');
  const error = await init('studio').catch((failed: unknown) => failed as Error);
  expect(error).toMatchObject({ errorName: 'push_refused' });
  expect((error as Error).message).toMatch(
    /founded as studio, with its store at .*studio; but .*not today.*same command/,
  );
  hook(null);
  expect(await init('studio')).toMatchObject({ machine: 'studio', writable: true });
  expect(refs()).toEqual(whole);
});

test('a remote that takes the charter alone keeps the founder’s store and is completed later', async () => {
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  const update = join(remote, 'hooks', 'post-receive');
  // What a server without atomic pushes leaves behind.
  writeFileSync(update, `#!/bin/sh\ngit update-ref -d refs/heads/mesh/studio\nkill -9 $PPID\n`);
  chmodSync(update, 0o755);
  await expect(init('studio')).rejects.toThrow(/founded as studio.*same command again/);
  expect(refs()).not.toContain('refs/heads/mesh/studio');
  rmSync(update);
  expect(await init('studio')).toMatchObject({ machine: 'studio', writable: true });
  expect(refs()).toEqual(whole);
});

test('a join that did not reach the remote is finished by the same join', async () => {
  await init('studio');
  const made = await joins('laptop');
  drop('refs/heads/mesh/laptop');
  expect(await joins('laptop')).toEqual(made);
  expect(refs()).toContain('refs/heads/mesh/laptop');
});

test('join where the machine is a member already says as whom', async () => {
  await init('studio');
  await joins('laptop');
  const again: [object, RegExp][] = [
    [{}, /this machine is laptop in the mesh remote\. .*nothing is left to do/],
    [{ machine: undefined }, /this machine is laptop/],
    [{ machine: 'tower' }, /this machine is laptop .*keeps that handle/],
  ];
  for (const [extra, message] of again) {
    await expect(joins('laptop', extra)).rejects.toMatchObject({
      errorName: 'mesh_exists',
      code: 409,
      message: expect.stringMatching(message) as string,
      data: { machine: 'laptop' },
    });
  }
  expect(stores()).toEqual(['laptop', 'studio']);
});

test('join of another mesh, or of the same one by another way, is told apart where a store stands', async () => {
  await init('studio');
  await joins('laptop');
  const copy = git.path('copy.git');
  git.git(['clone', '--quiet', '--mirror', remote, copy]);
  await expect(joins('laptop', { url: copy })).rejects.toThrow(/same mesh: `git mesh remote add NAME .*copy\.git`/);
  const other = git.bare('other.git');
  await initMesh({ ...base('else'), remote: other });
  await expect(joins('laptop', { url: other })).rejects.toThrow(/other\.git is another mesh: give another --dir/);
});

test('a machine that could only read is told that its handle is free, becomes a member once it may write', async () => {
  await init('studio');
  hook('echo "read only for you" >&2; exit 1');
  const reading = await joins('reader');
  expect(reading).toMatchObject({ writable: false });
  expect(reading.warning).toMatch(/only read.*read only for you.*its handle reader is not reserved.*git mesh sync/);
  expect(await joins('reader')).toMatchObject({ writable: false, warning: reading.warning });
  hook(null);
  const { warning, ...member } = await joins('reader');
  expect([member, warning]).toEqual(
    [{ ...reading, warning: undefined, writable: true }, undefined].map(withoutUndefined),
  );
  expect(refs()).toContain('refs/heads/mesh/reader');
});

const withoutUndefined = (value: object | undefined): unknown =>
  value === undefined ? value : (JSON.parse(JSON.stringify(value)) as unknown);

test('a machine that could only read is told when another one took its handle, with a way out', async () => {
  await init('studio');
  hook('exit 1');
  await joins('reader');
  hook(null);
  await joinMesh({ ...base('reader'), dir: git.path('second'), url: remote });
  await expect(joins('reader')).rejects.toMatchObject({
    errorName: 'handle_taken',
    message: expect.stringMatching(/another machine took the handle.*--machine NAME --dir DIR/) as string,
  });
  const reader = await Peer.open(git, git.path('reader'));
  await reader.sync();
  const { problems } = await reader.api.doctor();
  expect(problems.find(({ kind }) => kind === 'handle_conflict')?.fix).toMatch(/join .*under .* handle/);
});

test('the second of two inits joins no mesh of another policy', async () => {
  for (let again = 0; again < 3; again++) {
    remote = git.bare(`race-${again}.git`);
    const made = await Promise.allSettled([
      init(`a${again}`, { policy: 'open' }),
      init(`b${again}`, { policy: 'roster' }),
    ]);
    const lost: unknown[] = made.filter((each) => each.status === 'rejected').map((each): unknown => each.reason);
    expect(lost).toMatchObject([{ errorName: 'mesh_exists', code: 409 }]);
    expect((lost[0] as Error).message).toMatch(
      /policy (open|roster), where (open|roster) was asked for.*git mesh join/,
    );
    expect(stores().filter((name) => /^[ab]\d/.test(name) && name.endsWith(String(again)))).toHaveLength(1);
  }
});

test('the second of two inits joins no mesh of another prefix, and one repository never becomes two meshes unsaid', async () => {
  for (const name of ['empty.git', 'with-code.git']) {
    remote = git.bare(name);
    if (name !== 'empty.git') git.setRef(remote, 'refs/heads/code' as RefName, git.commit(remote, 'code'));
    const made = await Promise.allSettled([init(`a-${name}`, { machine: 'a' }), init(`b-${name}`, { machine: 'b', refPrefix: 'refs/mesh/' })]); // prettier-ignore
    const lost: unknown[] = made.filter((each) => each.status === 'rejected').map((each): unknown => each.reason);
    expect(lost.length).toBeGreaterThan(0);
    for (const error of lost) expect(error).toMatchObject({ code: 409 });
    if (name === 'empty.git') expect(refs().filter((ref) => ref.endsWith('_charter'))).toHaveLength(1);
  }
});

test('a mesh of one machine gains a remote later, which gets all of it', async () => {
  await initMesh(base('studio'));
  const { store } = await Peer.open(git, git.path('studio'));
  await store.saveConfig({ ...store.config, remotes: [{ name: 'hub', url: remote }] });
  const mesh = await openMesh(base('studio'));
  expect(await mesh.syncNow()).toMatchObject({ state: 'ok', queued: 0 });
  await mesh.close();
  expect(refs()).toEqual(whole);
  expect(await joins('laptop')).toMatchObject({ writable: true });
});
