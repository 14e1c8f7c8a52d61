import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RefName } from '@git-mesh/core';
import { writeGitConfig } from '../git-env.js';
import { GitFixture } from '../testing/git-fixture.js';
import { expectError, transportContract } from './contract.suite.js';
import { localTransport } from './local.js';
import { pushRefs } from './push.js';

const { signal } = new AbortController();
const posix = process.platform !== 'win32';
const root = process.getuid?.() === 0;
const main = 'refs/heads/main' as RefName;

/** Puts a program named git before the real one. */
function fakeGit(fixture: GitFixture, script: string): Record<string, string> {
  const folder = fixture.path('fake');
  mkdirSync(folder, { recursive: true });
  writeFileSync(fixture.path('fake', 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(fixture.path('fake', 'git'), 0o755);
  return { ...fixture.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
}

transportContract('a local path', (fixture) => ({
  reach: (path) => localTransport({ path, env: fixture.env }),
  reachHanging: (path) => localTransport({ path, env: fakeGit(fixture, 'sleep 600 & sleep 600') }),
}));

describe.skipIf(!posix)('localTransport', () => {
  let fixture: GitFixture;
  let remote: string;
  beforeEach(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
  });
  afterEach(() => {
    fixture.remove();
  });
  const open = (path: string, env: Readonly<Record<string, string>> = fixture.env) =>
    localTransport({ path, env }).open('git-upload-pack', { signal });

  it('ends children of children with a service that hangs', async () => {
    const pids = fixture.path('pids');
    const env = fakeGit(fixture, `sleep 600 & echo $! > ${pids}; wait`);
    const abort = new AbortController();
    const opened = localTransport({ path: remote, env }).open('git-upload-pack', { signal: abort.signal });
    await expect.poll(() => (existsSync(pids) ? readFileSync(pids, 'utf8') : ''), { timeout: 10_000 }).toMatch(/\d+\n/);
    abort.abort();
    await expectError('deadline', () => opened);
    const pid = Number(readFileSync(pids, 'utf8'));
    // Killed, it may stay a zombie where nobody reaps orphans.
    await expect
      .poll(() =>
        spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
          .stdout.toString()
          .trim(),
      )
      .toMatch(/^(Z|$)/);
  });

  it.each([
    ['itself', 'exec 2>/dev/null; trap "sleep 1; rm LOCK; exit 1" TERM; touch LOCK; sleep 600'],
    [
      'through what it started',
      'exec 2>/dev/null; (trap "sleep 0.1; rm LOCK; exit 1" TERM; touch LOCK; while :; do sleep 1; done) & sleep 600',
    ],
  ])('gives a git that takes a push the time to take its locks away %s', async (_who, script) => {
    const lock = fixture.path('ref.lock');
    const abort = new AbortController();
    const env = fakeGit(fixture, script.replaceAll('LOCK', lock));
    const opened = localTransport({ path: remote, env }).open('git-receive-pack', { signal: abort.signal });
    const failed = expectError('deadline', () => opened);
    await expect.poll(() => existsSync(lock), { timeout: 10_000 }).toBe(true);
    abort.abort();
    await failed;
    expect(existsSync(lock)).toBe(false);
  });

  it('lets a push that it gives up end by itself, so that nothing of it is left in the repository', async () => {
    const [hook, waiting, go] = [fixture.path('remote.git', 'hooks', 'pre-receive'), fixture.path('in'), fixture.path('go')]; // prettier-ignore
    mkdirSync(fixture.path('remote.git', 'hooks'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ntouch "${waiting}"\nwhile [ ! -e "${go}" ]; do sleep 0.02; done\n`);
    chmodSync(hook, 0o755);
    const next = fixture.commit(remote, 'one');
    const abort = new AbortController();
    const transport = localTransport({ path: remote, env: fixture.env });
    const exchange = await transport.open('git-receive-pack', { signal: abort.signal });
    const updates = [{ ref: main, expected: null, next }];
    const pushed = pushRefs(exchange, { updates, pack: null, atomic: false, signal: abort.signal });
    const failed = expectError('deadline', () => pushed);
    await expect.poll(() => existsSync(waiting), { timeout: 10_000 }).toBe(true);
    expect(readdirSync(fixture.path('remote.git', 'objects')).join()).toContain('tmp_objdir');
    abort.abort();
    writeFileSync(go, '');
    await failed;
    expect(readdirSync(fixture.path('remote.git', 'objects')).join()).not.toContain('tmp_objdir');
  });

  it('says what to install where git is missing', async () => {
    const error = await expectError('unreachable', () => open(remote, { PATH: fixture.path('empty') }));
    expect(error.message).toContain('git is not installed');
  });

  it.each([
    ['nothing at all', 'exit 0'],
    ['a cut advertisement', 'printf "003f0000"'],
    ['a whole advertisement but a bad end', 'printf "0000"; exit 3'],
    ['an error', 'printf "0012ERR no way in"; exit 128'],
    ['something else than git', 'echo hello, this is not git at all'],
    ['another protocol version', 'printf "000eversion 2\\n0000"'],
  ])('never takes %s for an empty repository', async (_what, script) => {
    const exchange = open(remote, fakeGit(fixture, script));
    await expectError('protocol_error', () => exchange);
  });

  it("passes the service's words on, redacted and without the path", async () => {
    const env = fakeGit(fixture, `echo "fatal: '${remote}' is locked by https://bob:hunter2@host/x" >&2; exit 128`);
    const { message } = await expectError('protocol_error', () => open(remote, env));
    expect(message).toContain("fatal: 'the remote' is locked by https://***@host/x");
    expect(message).not.toContain(fixture.root);
  });

  it('refuses a repository with a working tree, by its folder and by its .git', async () => {
    fixture.git(['init', '--quiet', fixture.path('work')]);
    for (const path of [fixture.path('work'), fixture.path('work', '.git')]) {
      const { message } = await expectError('not_a_repository', () => open(path));
      expect(message).toContain('working tree');
    }
  });

  it('refuses a file, a shallow clone and SHA-256', async () => {
    writeFileSync(fixture.path('file'), '');
    await expectError('not_a_repository', () => open(fixture.path('file')));
    fixture.bare('sha256.git', '--object-format=sha256');
    const { message } = await expectError('not_a_repository', () => open(fixture.path('sha256.git')));
    expect(message).toContain('sha256');
    const tip = fixture.commit(remote, 'two', [fixture.commit(remote, 'one')]);
    fixture.setRef(remote, main, tip);
    fixture.git(['clone', '--quiet', '--bare', '--depth=1', `file://${remote}`, fixture.path('shallow.git')]);
    expect((await expectError('not_a_repository', () => open(fixture.path('shallow.git')))).message).toContain(
      'shallow',
    );
  });

  it('points to a repository of the same name with .git', async () => {
    const { message } = await expectError('remote_not_found', () => open(fixture.path('remote')));
    expect(message).toContain('".git" added');
  });

  it.skipIf(!root)(
    "tells how to trust another user's repository, and honours the user's own safe.directory",
    async () => {
      execFileSync('chown', ['-R', '12345', remote]);
      chownSync(remote, 12345, 12345);
      const { message } = await expectError('auth_failed', () => open(remote));
      expect(message).toContain('safe.directory');

      const home = fixture.path('home');
      mkdirSync(home);
      writeFileSync(
        fixture.path('home', '.gitconfig'),
        `[safe]\n\tdirectory = "${remote}"\n[core]\n\thooksPath = /nowhere\n`,
      );
      const env = { PATH: process.env['PATH'] ?? '', HOME: home };
      const globalConfig = await writeGitConfig({ file: fixture.path('mesh', 'gitconfig'), env });
      const exchange = await localTransport({ path: remote, env, globalConfig }).open('git-upload-pack', { signal });
      await exchange.close();
      expect(readFileSync(globalConfig, 'utf8')).not.toContain('hooksPath');
    },
  );

  it('opens a path that begins with a dash or holds quotes and spaces', async () => {
    for (const name of ['-u', 'it\'s $HOME; "x" é.git']) {
      mkdirSync(fixture.path('odd'), { recursive: true });
      const path = fixture.path('odd', name);
      fixture.git(['init', '--quiet', '--bare', path]);
      await (await open(path)).close();
    }
  });

  it("runs no program that the repository's configuration names for fsmonitor, nor what GIT_* variables say", async () => {
    fixture.git(['-C', remote, 'config', 'core.fsmonitor', `touch ${fixture.path('ran')}`]);
    const env = { ...fixture.env, GIT_DIR: '/nowhere', GIT_TRACE: fixture.path('traced'), GIT_PROTOCOL: 'version=2' };
    await (await open(remote, env)).close();
    expect(existsSync(fixture.path('ran'))).toBe(false);
    expect(existsSync(fixture.path('traced'))).toBe(false);
  });

  it('leaves no process behind when an answer is left early', async () => {
    const tip = fixture.commit(remote, 'x'.repeat(5_000));
    fixture.setRef(remote, main, tip);
    const exchange = await open(remote);
    for await (const _chunk of exchange.post(Buffer.from(`0032want ${tip}\n00000009done\n`))) break;
    await exchange.close();
    const left = spawnSync('ps', ['-eo', 'args']).stdout.toString().split('\n');
    expect(left.filter((line) => line.includes(fixture.root))).toEqual([]);
  });

  it("gives the caller's own error when the request's body fails, and no half request is taken", async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('0032'));
      throw new RangeError('out of numbers');
    }
    fixture.setRef(remote, main, fixture.commit(remote, 'one'));
    const exchange = await open(remote);
    await expect(
      (async () => {
        for await (const _chunk of exchange.post(body())) continue;
      })(),
    ).rejects.toThrow('out of numbers');
    await exchange.close();
  });
});
