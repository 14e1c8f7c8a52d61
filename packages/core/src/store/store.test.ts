import { mkdir, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentId, AgentKey, Handle } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { Logger } from '../logger.js';
import { fsck, git } from '../testing/git.js';
import { newStore, storeConfig, storeDeps, temporaryFolder } from '../testing/store-fixture.js';
import { MachineKey } from './keys.js';
import type { RemoteState, SessionState, StoreConfig } from './ports.js';
import { Store } from './store.js';
import { systemFailure } from './system-failure.js';
import { nodeFs } from './node-fs.js';
import { faultyFs } from '../testing/faulty-fs.js';

let folder: { path: string; remove: () => Promise<void> };
let dir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dir = join(folder.path, 'deep', 'store');
});
afterEach(() => folder.remove());

const open = (): Promise<Store> => Store.open(dir, storeDeps());

describe('a new store', () => {
  it('is a bare repository that stock git finds nothing wrong with, and opens as it was made', async () => {
    const key = new MachineKey(Buffer.alloc(32, 9));
    const draft = await Store.create(dir, { config: storeConfig(), key }, storeDeps());
    await expect(stat(dir)).rejects.toThrow('ENOENT');
    await draft.publish();
    const store = await open();
    expect(store.config).toEqual(storeConfig());
    expect(store.signer.publicKey).toBe(key.publicLine);
    expect(await git(dir, 'rev-parse', '--is-bare-repository')).toBe('true');
    expect(await git(dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/mesh/studio');
    expect(await git(dir, 'config', 'gc.auto')).toBe('0');
    expect(await fsck(dir)).toBe('');
    expect(await readdir(join(folder.path, 'deep'))).toEqual(['store']);
  });

  it('has a HEAD that git accepts under a prefix outside of refs/heads', async () => {
    const config = { ...storeConfig(), ref_prefix: 'refs/mesh/' };
    await (await Store.create(dir, { config }, storeDeps())).publish();
    expect(await git(dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(await fsck(dir)).toBe('');
  });

  it('leaves nothing when it is discarded', async () => {
    const draft = await Store.create(dir, { config: storeConfig() }, storeDeps());
    await draft.store.objects.write([{ type: 'blob', data: Buffer.from('x') }]);
    await draft.discard();
    expect(await readdir(join(folder.path, 'deep'))).toEqual([]);
  });

  it('takes the place of nothing but an empty folder', async () => {
    await mkdir(dir, { recursive: true });
    const draft = await Store.create(dir, { config: storeConfig() }, storeDeps());
    await writeFile(join(dir, 'other'), 'precious');
    await expect(draft.publish()).rejects.toMatchObject({ errorName: 'store_unusable' });
    expect(await readFile(join(dir, 'other'), 'utf8')).toBe('precious');
    await rm(join(dir, 'other'));
    await draft.publish();
    const again = Store.create(dir, { config: storeConfig() }, storeDeps());
    await expect(again).rejects.toMatchObject({ errorName: 'mesh_exists', code: 409 });
  });

  it('is made by one of two that are made at once', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => Store.create(dir, { config: storeConfig() }, storeDeps())));
    await one!.publish();
    await expect(two!.publish()).rejects.toMatchObject({ errorName: 'mesh_exists' });
    await two!.discard();
    expect((await open()).signer.publicKey).toBe(one!.store.signer.publicKey);
  });

  it('follows a change of its handle, for those who open it later', async () => {
    const store = await newStore(dir);
    await store.saveConfig({ ...store.config, handle: 'studio-2' as Handle, label: 'two' });
    expect((await open()).config).toMatchObject({ handle: 'studio-2', label: 'two' });
    expect(store.branch).toBe('refs/heads/mesh/studio-2');
    expect(await git(dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/mesh/studio-2');
  });

  it('takes in a change of its remotes from another process, and loses none of two made at once', async () => {
    const store = await newStore(dir);
    const other = await open();
    const before = store.config.remotes;
    const add = (name: string) => (config: StoreConfig) => ({
      ...config,
      remotes: [...config.remotes, { name, url: `/srv/${name}.git` }],
    });
    await Promise.all([store.editConfig(add('a')), other.editConfig(add('b'))]);
    const names = (await store.refreshRemotes()).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set([...before.map(({ name }) => name), 'a', 'b']));
    expect((await other.refreshRemotes()).map(({ name }) => name)).toEqual(names);
    const refuse = (): StoreConfig => {
      throw new MeshError('conflict', 'no');
    };
    await expect(store.editConfig(refuse)).rejects.toMatchObject({ errorName: 'conflict' });
    expect((await open()).config.remotes.map(({ name }) => name)).toEqual(names);
    await store.local.putRemote('a', {
      last_ok_at: null,
      next_try_at: null,
      failures: 0,
      error: null,
      rejected: [],
      writable: true,
    });
    await store.local.removeRemote('a');
    await store.local.removeRemote('a');
    expect(await other.local.remote('a')).toBeNull();
  });
});

describe('a place where no store can be', () => {
  const create = (at: string, fs = nodeFs): Promise<unknown> =>
    Store.create(at, { config: storeConfig() }, { ...storeDeps(), fs });
  beforeEach(() => mkdir(join(folder.path, 'deep')));

  it.each(['store', 'store/in/it'])('is a file, or a path through one: %s', async (place) => {
    await writeFile(dir, '');
    const at = join(folder.path, 'deep', place);
    await expect(Store.open(at, storeDeps())).rejects.toMatchObject({
      errorName: 'no_mesh',
      message: expect.stringContaining(`${dir} is no folder; choose another`) as string,
    });
    await expect(create(at)).rejects.toMatchObject({
      errorName: 'store_unusable',
      message: expect.stringMatching(/is no folder.*choose another/) as string,
    });
  });

  it('is a name too long for the disk, or links that lead in a circle', async () => {
    await symlink(dir, `${dir}-2`);
    await symlink(`${dir}-2`, dir);
    for (const [at, errno] of [
      [dir, 'ELOOP'],
      [join(dir, 'in'), 'ELOOP'],
      [join(folder.path, 'x'.repeat(300)), 'ENAMETOOLONG'],
    ] as const) {
      const wanted = { errorName: 'store_unusable', code: 503, data: { errno } };
      await expect(Store.open(at, storeDeps())).rejects.toMatchObject(wanted);
      await expect(create(at)).rejects.toMatchObject(wanted);
    }
  });

  it('is a symbolic link that leads nowhere', async () => {
    await symlink('nowhere', dir);
    const draft = await Store.create(dir, { config: storeConfig() }, storeDeps());
    await expect(draft.publish()).rejects.toMatchObject({
      errorName: 'store_unusable',
      message: expect.stringMatching(/remove what is there/) as string,
    });
    await draft.discard();
  });

  it('is told by its own name, never by that of a temporary folder or file', async () => {
    const refusing = faultyFs(nodeFs, { at: 1, when: 'before', what: 'EACCES', steps: ['open'], lasting: true });
    const messageOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'no failure',
        (error: unknown) => String(error),
      );
    const created = await messageOf(create(dir, refusing));
    expect(created).toContain(`the store at ${dir} cannot be written (EACCES)`);
    expect(created).not.toMatch(/\.tmp-/);
    await newStore(dir);
    const store = await Store.open(dir, { ...storeDeps(), fs: refusing });
    const written = await messageOf(store.saveConfig({ ...store.config, label: 'x' }));
    expect(written).toMatch(/cannot be written \(EACCES\)/);
    expect(written).not.toMatch(/tmp_/);
  });
});

describe('a refusal of the system that nothing named', () => {
  it('is a MeshError, where anything else is left alone', async () => {
    await mkdir(dir, { recursive: true });
    const error: unknown = await readFile(dir).catch((reason: unknown) => reason);
    expect(systemFailure(error)).toMatchObject({ errorName: 'store_unusable', data: { errno: 'EISDIR' } });
    const gone: unknown = await readFile(join(dir, 'tmp_mesh_1_ab-cd')).catch((reason: unknown) => reason);
    expect(systemFailure(gone)?.message).toMatch(/ENOENT.*a new file'/);
    expect(systemFailure(new TypeError('x'))).toBeNull();
    expect(systemFailure(Object.assign(new Error('x'), { code: 'ERR_X' }))).toBeNull();
  });
});

describe('opening a store', () => {
  it.each([
    ['nothing', (): Promise<unknown> => Promise.resolve()],
    ['an empty folder', (): Promise<unknown> => mkdir(dir, { recursive: true })],
    [
      'a repository of another kind',
      async (): Promise<unknown> => {
        await mkdir(dir, { recursive: true });
        return git(dir, 'init', '-q', '--bare');
      },
    ],
  ])('says how to get one where %s is', async (_, prepare) => {
    await prepare();
    await expect(open()).rejects.toMatchObject({
      errorName: 'no_mesh',
      message: expect.stringMatching(/git mesh init.*git mesh join URL/) as string,
    });
  });

  it.each([
    ['objects', null],
    ['mesh/config.json', null],
    ['mesh/config.json', '{"format":1'],
    ['mesh/config.json', '{"format":1,"handle":"../x"}'],
    ['mesh/key', null],
    ['mesh/key', 'x'],
  ])('says what to do where %s is %j', async (name, content) => {
    await newStore(dir);
    await rm(join(dir, name), { recursive: true });
    await rm(join(dir, 'mesh/config.copy.json'));
    if (content !== null) await writeFile(join(dir, name), content);
    await expect(open()).rejects.toMatchObject({ errorName: 'store_damaged' });
  });

  it.each([
    ['config', ''],
    ['config', null],
    ['HEAD', ''],
    ['HEAD', null],
    ['refs', null],
    ['mesh/config.json', ''],
    ['mesh/config.json', null],
  ])('makes %s that is %j again', async (name, content) => {
    await newStore(dir);
    const before = name === 'refs' ? null : await readFile(join(dir, name), 'utf8');
    await rm(join(dir, name), { recursive: true });
    if (content !== null) await writeFile(join(dir, name), content);
    await open();
    if (before !== null) expect(await readFile(join(dir, name), 'utf8')).toBe(before);
    expect(await fsck(dir)).not.toMatch(/error|fatal/);
  });

  it('refuses a later format with the way on', async () => {
    await newStore(dir);
    await writeFile(join(dir, 'mesh/config.json'), JSON.stringify({ ...storeConfig(), format: 2 }));
    await expect(open()).rejects.toMatchObject({
      errorName: 'format_too_new',
      message: expect.stringContaining('update git-mesh') as string,
    });
  });

  it.each([
    '[core]\n\trepositoryformatversion = 2\n',
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n',
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = "reftable"\n',
    '[core]\nrepositoryformatversion=1\n[Extensions] somethingNew\n',
    '[core]\n\trepositoryformatversion = 0\n[extensions]\n\tpartialClone = origin\n',
  ])('refuses a repository it would damage: %j', async (config) => {
    await newStore(dir);
    await writeFile(join(dir, 'config'), config);
    await expect(open()).rejects.toMatchObject({ errorName: 'store_unusable' });
  });

  it.each([
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpreciousObjects = true\n\tobjectFormat = sha1 ; as ever\n',
    '# nothing\n[remote "x"]\n\turl = y\n',
  ])('takes a repository that is as it should be: %j', async (config) => {
    await newStore(dir);
    await writeFile(join(dir, 'config'), config);
    expect((await open()).config.handle).toBe('studio');
  });
});

describe('the local state', () => {
  const session = (agent: string): SessionState => ({
    agent: agent as AgentId,
    checked_in_at: '2026-12-02T05:00:00.000Z',
    fence: 3,
    previous_end: null,
    herdr_pane: 'w1:p2',
    owner: { pid: 1, started_at: 2, ticks: '3' },
  });
  const remote: RemoteState = {
    last_ok_at: null,
    next_try_at: null,
    failures: 1,
    error: { name: 'unreachable', message: 'x' },
    rejected: [],
    writable: true,
  };

  it('is there for the next process, with sessions compared without regard to case', async () => {
    const { local } = await newStore(dir);
    await local.putSession(session('Builder'));
    await local.putRemote('Ori/gin ü', remote);
    await local.pin('laptop' as Handle, 'ssh-ed25519 AAAA');
    const { local: next } = await open();
    expect(await next.session('builder' as AgentKey)).toEqual(session('Builder'));
    expect(await next.sessions()).toHaveLength(1);
    expect(await next.remote('Ori/gin ü')).toEqual(remote);
    expect(await next.remote('ori/gin ü')).toBeNull();
    expect([...(await next.pins())]).toEqual([['laptop', 'ssh-ed25519 AAAA']]);
  });

  it('has activity that never goes back', async () => {
    const { local } = await newStore(dir);
    const agent = 'builder' as AgentKey;
    expect(await local.lastActivity(agent)).toBeNull();
    for (const at of [5_000, 9_000, 7_000]) await local.touch(agent, at);
    expect(await local.lastActivity(agent)).toBe(9_000);
  });

  it('keeps the first key pinned for a machine', async () => {
    const { local } = await newStore(dir);
    await local.pin('laptop' as Handle, 'ssh-ed25519 AAAA');
    await local.pin('laptop' as Handle, 'ssh-ed25519 AAAA');
    await expect(local.pin('laptop' as Handle, 'ssh-ed25519 BBBB')).rejects.toMatchObject({ errorName: 'conflict' });
  });

  it('counts damaged files as absent and reports them', async () => {
    const { local } = await newStore(dir);
    await local.putSession(session('builder'));
    await local.putSession(session('other'));
    await local.putRemote('origin', remote);
    await local.touch('builder' as AgentKey, 5);
    for (const [name, content] of [
      ['sessions/builder.json', '{"agent":"builder","fence":"3"}'],
      ['remotes/origin.json', '\0\0\0'],
      ['activity/builder', 'soon'],
      ['pins.json', '{"laptop":1,"..":"x","tower":"ssh-ed25519 AAAA"}'],
    ] as const) {
      await writeFile(join(dir, 'mesh', name), content);
    }
    const reports: string[] = [];
    const logger: Logger = { debug: () => undefined, info: () => undefined, warn: (text) => reports.push(text) };
    const { local: next } = await Store.open(dir, { ...storeDeps(), logger });
    expect(await next.session('builder' as AgentKey)).toBeNull();
    expect((await next.sessions()).map(({ agent }) => agent)).toEqual(['other']);
    expect(await next.remote('origin')).toBeNull();
    expect(await next.lastActivity('builder' as AgentKey)).toBeNull();
    expect([...(await next.pins()).keys()]).toEqual(['tower']);
    for (const name of ['sessions/builder.json', 'remotes/origin.json', 'activity/builder', 'pins.json']) {
      expect(reports.some((text) => text.includes(`mesh/${name}`))).toBe(true);
    }
  });
});

describe('sweeping a store', () => {
  it('removes old leftovers and nothing else', async () => {
    const store = await newStore(dir);
    await store.local.touch('builder' as AgentKey, 5);
    const pack = (digit: string): string => `objects/pack/pack-${digit.repeat(40)}`;
    const left = ['objects/tmp_mesh_1_a', 'mesh/tmp_mesh_1_b', 'mesh/activity/tmp_mesh_1_c', 'tmp_mesh_1_d'];
    left.push('objects/pack/tmp_mesh_1_e', `${pack('a')}.pack`);
    left.push(...['gitconfig', 'worker.json'].map((name) => `mesh/${name}.0123456789ab.tmp`));
    await mkdir(join(dir, 'mesh', 'worker.lock.0123456789ab.stray'));
    left.push('mesh/worker.lock.0123456789ab.stray');
    const whole = [`${pack('b')}.pack`, `${pack('b')}.idx`];
    const old = new Date(Date.now() - 11 * 60_000);
    for (const name of [...left, ...whole, 'mesh/tmp_mesh_1_young', 'objects/tmp_obj_git', 'mesh/journal']) {
      if (!name.endsWith('.stray')) await writeFile(join(dir, name), 'x');
      if (!name.endsWith('young')) await utimes(join(dir, name), old, old);
    }
    expect(await store.sweep()).toBe(left.length);
    expect((await readdir(join(dir, 'objects', 'pack'))).map((name) => `objects/pack/${name}`).sort()).toEqual(
      whole.sort(),
    );
    expect((await readdir(join(dir, 'mesh'))).sort()).toEqual([
      'activity',
      'config.copy.json',
      'config.json',
      'journal',
      'key',
      'place.json',
      'tmp_mesh_1_young',
    ]);
    expect(await readdir(join(dir, 'objects'))).toContain('tmp_obj_git');
  });
});
