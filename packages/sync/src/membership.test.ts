import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, silentLogger } from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
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

const base = (dir: string): { dir: string; env: NodeJS.ProcessEnv; logger: typeof silentLogger; hostname: string } => ({
  dir: git.path(dir),
  env: process.env,
  logger: silentLogger,
  hostname: 'Host.example.org',
});
const init = (dir: string, extra: object = {}): Promise<MembershipResult> =>
  initMesh({ ...base(dir), remote, ...extra });
const joins = (dir: string, extra: object = {}): Promise<MembershipResult> =>
  joinMesh({ ...base(dir), url: remote, ...extra });
const refs = (): string[] => [...git.refs(remote).keys()].sort();
const hook = (script: string): void => {
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(join(remote, 'hooks', 'pre-receive'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(remote, 'hooks', 'pre-receive'), 0o755);
};
/** Nothing of a store that was not made may stay, beside it neither. */
const leftovers = (): string[] => readdirSync(git.root).filter((name) => name !== 'remote.git');

test('init on an empty remote makes the charter, the own branch and main', async () => {
  const made = await init('studio', { machine: 'studio', label: 'Studio' });
  expect(made).toEqual({
    mesh: { id: expect.stringMatching(/^[0-9A-Z]{26}$/) as string, name: 'remote' },
    machine: 'studio',
    store: git.path('studio'),
    remotes: [{ name: 'origin', url: remote }],
    writable: true,
  });
  expect(refs()).toEqual(['refs/heads/main', 'refs/heads/mesh/_charter', 'refs/heads/mesh/studio']);
  expect(git.git(['-C', remote, 'fsck', '--strict', '--no-dangling'])).toBe('');
});

test('init touches no branch that is not the mesh’s', async () => {
  const code = git.commit(remote, 'code');
  git.setRef(remote, 'refs/heads/main' as never, code);
  git.setRef(remote, 'refs/heads/meshed' as never, code);
  await init('studio', { machine: 'studio' });
  await joins('laptop', { machine: 'laptop' });
  expect(git.refs(remote).get('refs/heads/main' as never)).toBe(code);
  expect(git.refs(remote).get('refs/heads/meshed' as never)).toBe(code);
  expect(git.git(['-C', git.path('laptop'), 'for-each-ref', '--format=%(refname)'])).not.toContain('meshed');
});

test('a mesh may live under another prefix, and is found there', async () => {
  await init('studio', { machine: 'studio', refPrefix: 'refs/mesh/' });
  expect(refs()).toEqual(['refs/heads/main', 'refs/mesh/_charter', 'refs/mesh/studio']);
  await joins('laptop', { machine: 'laptop' });
  expect(refs()).toContain('refs/mesh/laptop');
});

test('a charter under a prefix that no mesh may have is not followed', async () => {
  const code = git.commit(remote, 'code');
  git.setRef(remote, 'refs/heads/_charter' as never, code);
  await expect(joins('laptop')).rejects.toBeInstanceOf(MeshError);
  expect(leftovers()).toEqual([]);
});

test('init where a mesh is already is refused and leaves nothing behind', async () => {
  await init('studio', { machine: 'studio' });
  const before = git.refs(remote);
  await expect(init('laptop', { machine: 'laptop' })).rejects.toMatchObject({ errorName: 'mesh_exists', code: 409 });
  await expect(init('studio', { machine: 'other' })).rejects.toMatchObject({ errorName: 'mesh_exists' });
  expect(git.refs(remote)).toEqual(before);
  expect(leftovers()).toEqual(['studio']);
});

test('init on a remote that refuses the push leaves nothing behind', async () => {
  hook('echo "not here" >&2; exit 1');
  await expect(init('studio', { machine: 'studio' })).rejects.toMatchObject({
    errorName: 'push_refused',
    message: expect.stringContaining('not here') as string,
  });
  expect(leftovers()).toEqual([]);
  expect(refs()).toEqual([]);
});

test('init on a remote that breaks off leaves nothing behind where nothing came to be', async () => {
  hook('kill -9 $PPID');
  await expect(init('studio', { machine: 'studio' })).rejects.toBeInstanceOf(MeshError);
  expect(leftovers()).toEqual([]);
  expect(refs()).toEqual([]);
});

test('init on a remote that breaks off once it took the push is done', async () => {
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(join(remote, 'hooks', 'post-receive'), '#!/bin/sh\nkill -9 $PPID\n');
  chmodSync(join(remote, 'hooks', 'post-receive'), 0o755);
  expect(await init('studio', { machine: 'studio' })).toMatchObject({ machine: 'studio', writable: true });
  expect(refs()).toContain('refs/heads/mesh/studio');
});

test('two inits at once on one empty remote make one mesh, which the second joins', async () => {
  for (let again = 0; again < 3; again++) {
    remote = git.bare(`race-${again}.git`);
    const made = await Promise.all([init(`a-${again}`), init(`b-${again}`)]);
    expect(new Set(made.map(({ mesh }) => mesh.id)).size).toBe(1);
    expect(made.map(({ machine }) => machine).sort()).toEqual(['host', 'host-2']);
    expect(made.map(({ writable }) => writable)).toEqual([true, true]);
    const told = made.map(({ warning }) => warning).filter((warning) => warning !== undefined);
    expect(told).toEqual([expect.stringContaining('this one joined it') as string]);
    expect(refs()).toEqual([
      'refs/heads/main',
      ...['_charter', 'host', 'host-2'].map((name) => `refs/heads/mesh/${name}`),
    ]);
  }
});

test('several joins at once under the default handle take one each', async () => {
  await init('studio', { machine: 'studio' });
  const made = await Promise.all([joins('a'), joins('b'), joins('c')]);
  expect(made.map(({ machine }) => machine).sort()).toEqual(['host', 'host-2', 'host-3']);
});

test('join under a handle that is taken is refused and leaves nothing behind', async () => {
  await init('studio', { machine: 'studio' });
  await expect(joins('laptop', { machine: 'studio' })).rejects.toMatchObject({ errorName: 'handle_taken', code: 409 });
  expect(leftovers()).toEqual(['studio']);
});

test('two joins at once under one name: one has it, the other is told', async () => {
  await init('studio', { machine: 'studio' });
  const made = await Promise.allSettled([joins('a', { machine: 'twin' }), joins('b', { machine: 'twin' })]);
  const lost: unknown[] = made.filter((each) => each.status === 'rejected').map((each): unknown => each.reason);
  expect(lost).toMatchObject([{ errorName: 'handle_taken' }]);
  expect(leftovers().length).toBe(2);
});

test('join where no mesh is, where nothing is, or onto a store is refused and leaves nothing behind', async () => {
  await expect(joins('laptop')).rejects.toMatchObject({ errorName: 'not_found', code: 404 });
  await expect(joinMesh({ ...base('laptop'), url: git.path('nothing') })).rejects.toMatchObject({
    errorName: 'remote_not_found',
  });
  expect(leftovers()).toEqual([]);
  await init('studio', { machine: 'studio' });
  await expect(joins('studio')).rejects.toMatchObject({ errorName: 'mesh_exists' });
  expect(leftovers()).toEqual(['studio']);
});

test('join without the right to push reads, and says that it cannot write', async () => {
  await init('studio', { machine: 'studio' });
  hook('exit 1');
  expect(await joins('reader', { machine: 'reader' })).toMatchObject({ machine: 'reader', writable: false });
  expect(refs()).not.toContain('refs/heads/mesh/reader');
  const reader = await Peer.open(git, git.path('reader'));
  expect(await reader.accepted('studio')).not.toBeNull();
  expect((await reader.status()).remotes[0]).toMatchObject({ state: 'error', error: { name: 'push_refused' } });
});

test('join numbers the freezes that stand, and states what it has read', async () => {
  await init('studio', { machine: 'studio' });
  const studio = await Peer.open(git, git.path('studio'));
  const call = studio.call();
  const freeze = await studio.api.send({ to: '*', msg_type: 'freeze', payload: { repo: 'shop' } }, call);
  await studio.sync();
  await joins('laptop', { machine: 'laptop' });
  const laptop = await Peer.open(git, git.path('laptop'));
  const { freezes } = await laptop.api.agents({}, laptop.call());
  expect(freezes.map(({ id, message_id: n, repo }) => [id, n, repo])).toEqual([[freeze.id, 1, 'shop']]);
  await studio.sync();
  expect((await studio.api.sent({}, call)).messages[0]?.state).toBe('delivered');
});

test.skipIf(process.getuid?.() !== 0)(
  'a repository of somebody else is used where the user says that it is safe',
  async () => {
    chownSync(remote, 12_345, 12_345);
    await expect(init('studio', { machine: 'studio' })).rejects.toBeInstanceOf(MeshError);
    const config = git.path('user-config');
    writeFileSync(config, `[safe]\n\tdirectory = ${remote}\n`);
    const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
    expect(await init('studio', { machine: 'studio', env })).toMatchObject({ writable: true });
    expect(await joins('laptop', { machine: 'laptop', env })).toMatchObject({ writable: true });
    expect(existsSync(git.path('laptop'))).toBe(true);
  },
);
