import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { MembershipResult, RefName } from '@git-mesh/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { admitRemote } from './remote-admission.js';
import { GitFixture } from './testing/git-fixture.js';
import { HttpGitServer } from './testing/http-git-server.js';
import { noSshd, Sshd } from './testing/sshd.js';

const secret = 'hunter2';

let fixture: GitFixture;
let server: HttpGitServer;
let sshd: Sshd | null = null;
let env: Record<string, string>;

beforeAll(async () => {
  fixture = new GitFixture();
  server = await HttpGitServer.start({ root: fixture.root, env: fixture.env });
  server.login = { username: 'bob', password: secret };
  env = { ...fixture.env, GIT_MESH_TOKEN: secret, GIT_MESH_USERNAME: 'bob' };
  if (noSshd !== null) return;
  sshd = await Sshd.start(fixture.path('sshd'));
  env['GIT_SSH_COMMAND'] = sshd.command();
});
afterAll(async () => {
  await server.close();
  await sshd?.stop();
  fixture.remove();
});

const options = (dir: string) => ({ dir, env, logger: silentLogger, machine: 'x', hostname: 'x' });
const init = (remote: string, dir: string, extra: object = {}): Promise<MembershipResult> =>
  initMesh({ ...options(dir), remote, ...extra });
const joins = (url: string, dir: string, extra: object = {}): Promise<MembershipResult> =>
  joinMesh({ ...options(dir), url, ...extra });
const error = (errorName: string, message: RegExp) => ({
  errorName,
  message: expect.stringMatching(message) as string,
});

describe.each([
  ['a path', (name: string) => fixture.path(name)],
  ['a file:// URL', (name: string) => pathToFileURL(fixture.path(name)).href],
  ['ssh', (name: string) => sshd?.url(fixture.path(name)) ?? ''],
  ['http', (name: string) => server.url(name)],
])('a remote given as %s', (kind, address) => {
  const prefix = kind.replace(/\W+/g, '');
  const store = (name: string): string => fixture.path(`stores-${prefix}`, name);
  const skipped = kind === 'ssh' && noSshd !== null;

  it.skipIf(skipped)('may be empty, hold other branches, or be a mesh already', async () => {
    const name = `${prefix}-code.git`;
    const remote = fixture.bare(name);
    const code = fixture.commit(remote, 'code');
    fixture.setRef(remote, 'refs/heads/trunk' as RefName, code);
    await expect(joins(address(name), store('none'))).rejects.toMatchObject(
      error('not_found', /no mesh.*git mesh init/),
    );
    expect(await init(address(name), store('studio'))).toMatchObject({ writable: true });
    expect([...fixture.refs(remote)]).toEqual(
      expect.arrayContaining([['refs/heads/trunk', code]]) as [RefName, typeof code][],
    );
    expect(fixture.refs(remote).has('refs/heads/main' as RefName)).toBe(false);
    await expect(init(address(name), store('none'))).rejects.toMatchObject(error('mesh_exists', /git mesh join/));
    expect(await joins(address(name), store('laptop'), { machine: 'laptop' })).toMatchObject({ writable: true });
    expect(readdirSync(fixture.path(`stores-${prefix}`)).sort()).toEqual(['laptop', 'studio']);
  });

  it.skipIf(skipped)('without the right to push: init makes nothing, join reads only and says so', async () => {
    const name = `${prefix}-readonly.git`;
    const remote = fixture.bare(name);
    const refuse = join(remote, 'hooks', 'pre-receive');
    mkdirSync(join(remote, 'hooks'), { recursive: true });
    writeFileSync(refuse, '#!/bin/sh\necho "you may only read" >&2\nexit 1\n');
    chmodSync(refuse, 0o755);
    await expect(init(address(name), store('no'))).rejects.toMatchObject(
      error('push_refused', /you may only read.*Nothing was made/),
    );
    expect(existsSync(store('no'))).toBe(false);
    expect(fixture.refs(remote).size).toBe(0);
    chmodSync(refuse, 0o644);
    await init(address(name), store('founder'));
    chmodSync(refuse, 0o755);
    const reading = await joins(address(name), store('reader'), { machine: 'reader' });
    expect(reading).toMatchObject({ writable: false, warning: expect.stringMatching(/you may only read/) as string });
  });

  it.skipIf(skipped)('that is missing, or no git repository, is refused and nothing is made', async () => {
    mkdirSync(fixture.path(`${prefix}-folder`), { recursive: true });
    for (const name of [`${prefix}-nowhere.git`, `${prefix}-folder`]) {
      for (const attempt of [init, joins]) {
        await expect(attempt(address(name), store('nothing'))).rejects.toMatchObject({ code: 503 });
      }
    }
    expect(existsSync(store('nothing'))).toBe(false);
  });

  it.skipIf(skipped)('that is another machine’s store is refused, of a mesh with a remote or without', async () => {
    const [hub, member, solo] = ['hub.git', 'member', 'solo'].map((name) => `${prefix}-${name}`);
    await initMesh({ ...options(fixture.path(member ?? '')), remote: fixture.bare(hub ?? '') });
    await initMesh(options(fixture.path(solo ?? '')));
    for (const name of [member, solo]) {
      for (const attempt of [init, joins]) {
        await expect(attempt(address(name ?? ''), store('of-a-store'))).rejects.toMatchObject(
          error('not_a_repository', /is the store of a git-mesh machine.*plain bare one/),
        );
      }
    }
    expect(existsSync(store('of-a-store'))).toBe(false);
  });
});

it('a path with a name that is too long is refused as what it is', async () => {
  const long = join(fixture.root, 'x'.repeat(300));
  for (const attempt of [init, joins]) {
    await expect(attempt(long, fixture.path('none'))).rejects.toMatchObject(
      error('invalid_argument', /is no usable path: a name in it is longer/),
    );
  }
});

it('a repository with a working tree is refused, its .git folder too', async () => {
  fixture.git(['init', '--quiet', fixture.path('work')]);
  for (const path of [fixture.path('work'), fixture.path('work', '.git')]) {
    for (const attempt of [init, joins]) {
      await expect(attempt(path, fixture.path('of-work'))).rejects.toMatchObject(
        error('not_a_repository', /working tree.*git init --bare/),
      );
    }
  }
  expect(existsSync(fixture.path('of-work'))).toBe(false);
});

it('a store in its remote, around it, or the same folder is refused, by whatever way the paths go', async () => {
  const remote = fixture.bare('around.git');
  symlinkSync(remote, fixture.path('link'));
  const inside = join(remote, 'store');
  const cases: [string, string][] = [
    [remote, inside],
    [remote, join(fixture.path('link'), 'deep', 'store')],
    [fixture.path('link'), inside],
    [pathToFileURL(remote).href, inside],
    [remote, remote],
    [remote, fixture.root],
  ];
  for (const [url, dir] of cases) {
    for (const attempt of [init, joins]) {
      const refused = attempt(url, dir);
      await expect(refused).rejects.toMatchObject({ code: dir === remote || dir === fixture.root ? 503 : 400 });
    }
    await expect(admitRemote({ url, dir, env, allowPublic: false })).rejects.toMatchObject(
      error('invalid_argument', /choose another --dir/),
    );
  }
  expect(readdirSync(remote)).not.toContain('store');
  // A name that only begins alike is another folder.
  await admitRemote({ url: remote, dir: `${remote}-store`, env, allowPublic: false });
});

it('a folder that holds other things, or a file, is refused before the remote is asked', async () => {
  mkdirSync(fixture.path('full'));
  writeFileSync(fixture.path('full', 'thesis.odt'), 'x');
  const seen = server.seen.length;
  for (const dir of [fixture.path('full'), fixture.path('full', 'thesis.odt')]) {
    for (const attempt of [init, joins]) {
      await expect(attempt(server.url('hub.git'), dir)).rejects.toMatchObject(
        error('store_unusable', /choose another --dir/),
      );
    }
  }
  expect(server.seen.length).toBe(seen);
});

describe('a remote that everyone can read', () => {
  it('is refused with why, unless that is meant', async () => {
    fixture.bare('public.git');
    const url = server.url('public.git');
    const { login } = server;
    server.login = null;
    try {
      for (const attempt of [init, joins]) {
        await expect(attempt(url, fixture.path('in-public'))).rejects.toMatchObject({
          ...error('forbidden', /everyone could read what the agents write.*--allow-public/),
          code: 403,
        });
      }
      expect(existsSync(fixture.path('in-public'))).toBe(false);
      expect(await init(url, fixture.path('in-public'), { allowPublic: true })).toMatchObject({ writable: true });
      await expect(joins(url, fixture.path('too'), { machine: 'y' })).rejects.toMatchObject({ errorName: 'forbidden' });
      expect(await joins(url, fixture.path('too'), { machine: 'y', allowPublic: true })).toMatchObject({
        machine: 'y',
      });
    } finally {
      server.login = login;
    }
  });

  it('is told from one that asks who it is: that one is used', async () => {
    fixture.bare('private.git');
    await admitRemote({ url: server.url('private.git'), dir: fixture.path('y'), env, allowPublic: false });
    expect(await init(server.url('private.git'), fixture.path('in-private'))).toMatchObject({ writable: true });
  });

  it('is not asked for where the URL holds a secret, which is refused first', async () => {
    const seen = server.seen.length;
    for (const url of [
      server.url('private.git', `bob:${secret}`),
      server.url('private.git', 'ghp_0123456789abcdefghij'),
    ]) {
      for (const attempt of [init, joins]) {
        const refused = attempt(url, fixture.path('secret'));
        await expect(refused).rejects.toMatchObject({ errorName: 'invalid_argument' });
        await expect(refused).rejects.not.toThrow(new RegExp(`${secret}|ghp_0`));
      }
    }
    await expect(init(`ssh://bob:${secret}@host/x.git`, fixture.path('secret'))).rejects.toMatchObject({ errorName: 'invalid_argument' }); // prettier-ignore
    expect(server.seen.length).toBe(seen);
    expect(existsSync(fixture.path('secret'))).toBe(false);
  });
});
