import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, launcher, workspaceRoot } from '../environment.js';
import { fingerprint, hasNoHooks, hostileGit, userRepositories } from '../hostile-git.js';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';

const onPosix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;

let umask = 0;
beforeAll(() => {
  umask = process.umask(0o077);
});
afterAll(() => {
  process.umask(umask);
});

function awkwardFolder(): string {
  const folder = join(scratch(), "l'été ñ 名 $HOME");
  mkdirSync(folder);
  return folder;
}

/** One plausible call of each command, in an order in which each finds what it needs. */
function everyCommand({ remote, second, bundle }: { remote: string; second: string; bundle: string }): string[][] {
  return [
    ['init', '--remote', remote, '--machine', 'studio'],
    ['status'],
    ['checkin', 'boss', '--repo', 'app ñ', '--status', 'busy'],
    ['agents'],
    ['send', 'studio', 'note', '--from', 'boss', '--message', 'line one\r\nline two ñ'],
    ['inbox', 'boss', '--wait', '1'],
    ['ack', 'boss', '--all'],
    ['sent'],
    ['trace', '1'],
    ['freeze', '--repo', 'app ñ'],
    ['unfreeze', '--repo', 'app ñ'],
    ['send', 'studio', 'note'],
    ['unsend', '4'],
    ['hook', 'claude-code', 'Stop'],
    ['setup', 'cursor', '--dry-run'],
    ['keys', '--allowed-signers'],
    ['invite'],
    ['rotate-key'],
    ['sync'],
    ['log', '--limit', '5'],
    ['guard', '--strict'],
    ['export', bundle],
    ['import', bundle],
    ['remote', 'add', 'two', second],
    ['remote', 'list'],
    ['reclaim', 'two'],
    ['sync'],
    ['remote', 'remove', 'two'],
    ['mcp'],
    ['completion', 'bash'],
    ['checkout', 'boss'],
    ['doctor'],
    ['maintain'],
  ];
}

// `demo` and `join` have calls of their own in the tests; `ui` and `watch` stay until they are interrupted; the last three need
// another machine, or leave nothing to go on with, and write by the same ways as `rotate-key`.
const elsewhere = ['demo', 'help', 'join', 'ui', 'watch', 'admit', 'revoke', 'leave'];

test.skipIf(!onPosix)('the user’s set-up of these tests is in the way of stock git', () => {
  const root = awkwardFolder();
  const hostile = hostileGit(root, []);
  const { work } = userRepositories(join(root, 'of the user'));
  const env = { ...cleanEnvironment(root), HOME: hostile.home };
  for (const args of [['status'], ['update-ref', 'refs/heads/x', 'HEAD']]) {
    expect(spawnSync('git', args, { cwd: work, env, timeout: 10_000 }).status).not.toBe(0);
  }
  expect(hostile.ran()).toEqual(expect.arrayContaining(['fsmonitor', 'hook reference-transaction']));
});

test.skipIf(!onPosix).each(['work', 'linked', 'bare'] as const)(
  'every command works inside a user’s repository (%s) whatever their git is set to, and leaves it as it was',
  async (where) => {
    const root = awkwardFolder();
    const [remote, second] = [bareRemote(root, 'the hub.git'), bareRemote(root, 'hub two.git')];
    // What whoever runs the hub may have set there.
    stockGit(['--git-dir', remote, 'config', 'transfer.fsckObjects', 'true']);
    const hostile = hostileGit(root, [remote, second]);
    const folder = join(root, 'of the user');
    const repositories = userRepositories(folder);
    const cwd = where === 'work' ? join(repositories.work, 'src') : repositories[where];
    const gitDir = {
      work: join(repositories.work, '.git'),
      linked: stockGit(['rev-parse', '--absolute-git-dir'], { cwd: repositories.linked }),
      bare: repositories.bare,
    }[where];
    const env = hostile.env(gitDir, where === 'linked' ? repositories.linked : repositories.work);
    const [studio, lab] = [new Machine(root, 'studio', env), new Machine(root, 'lab', env)];
    const before = fingerprint(folder);

    const bundle = join(root, 'the bundle ñ.bundle');
    const lines = everyCommand({ remote, second, bundle });
    const runs: [Machine, string[]][] = lines.map((line) => [studio, line]);
    if (where === 'work') runs.push([studio, ['demo']]);
    runs.push([lab, ['join', where === 'linked' ? bundle : remote, '--machine', 'lab']]);
    for (const [machine, line] of runs) {
      const { code, stdout, stderr } = await machine.run(line, { cwd });
      expect(code, `git-mesh ${line.join(' ')}\n${stdout}\n${stderr}`).toBe(0);
      expect(hostile.ran(), `programs of the user that git-mesh ${line.join(' ')} ran`).toEqual([]);
      expect(fingerprint(folder), `the user's repositories after git-mesh ${line.join(' ')}`).toEqual(before);
    }

    // An agent's server, in the same place.
    const session = await lab.mcp({ cwd });
    await session.checkin('qa');
    // One that joined from a bundle is known to nobody before it is carried back.
    if (where !== 'linked') {
      await studio.json(['send', 'lab', 'note', '--message', 'for the lab'], { cwd });
      const { messages } = await session.call('agent_inbox', { agent_id: 'qa', wait_seconds: 20 });
      expect(messages.map(({ payload }) => payload)).toEqual([{ message: 'for the lab' }]);
      const read = messages.map(({ message_id }) => message_id);
      await session.ack('qa', read);
    }
    await session.send('studio', { payload: { text: 'back' } });
    await session.close();
    expect(hostile.ran()).toEqual([]);
    expect(fingerprint(folder)).toEqual(before);

    for (const machine of [studio, lab]) {
      expect(hasNoHooks(machine.store)).toBe(true);
      expect(machine.git(['fsck', '--strict'])).toBe('');
      expect(machine.git(['log', '--format=%cn %an', `refs/heads/mesh/${machine.handle}`])).not.toContain(
        'somebody else',
      );
      expect(machine.git(['log', '-1', '--format=%ct', `refs/heads/mesh/${machine.handle}`])).toMatch(/^1[7-9]/);
    }
    stockGit(['--git-dir', remote, 'fsck', '--strict']);
    const known = await studio.run(['--help']);
    const names = [...known.stdout.matchAll(/^ {2}([a-z][a-z-]*)(?= )/gm)].map(([, name]) => name ?? '');
    expect([...new Set([...lines.map(([name]) => name ?? ''), ...elsewhere])].sort()).toEqual(
      [...new Set(names)].sort(),
    );
  },
  180_000,
);

/** `git-mesh` on a PATH of its own, as hooks call it. */
function onPath(root: string): string {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git-mesh'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(bin, 'git-mesh'), 0o755);
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

test.skipIf(!onPosix)(
  'commands work inside a real pre-push, post-commit and pre-receive hook, and the user’s repository gets only what the user did',
  async () => {
    const root = awkwardFolder();
    const remote = bareRemote(root);
    const { work, linked, bare } = userRepositories(join(root, 'of the user'));
    const PATH = onPath(root);
    const studio = new Machine(root, 'studio', { PATH });
    await studio.json(['init', '--remote', remote, '--machine', 'studio']);
    await studio.json(['checkin', 'boss']);
    const hook = (folder: string, name: string, ...lines: string[]): void => {
      writeFileSync(join(folder, 'hooks', name), ['#!/bin/sh', 'set -e', ...lines, ''].join('\n'));
      chmodSync(join(folder, 'hooks', name), 0o755);
    };
    mkdirSync(join(work, '.git', 'hooks'), { recursive: true });
    mkdirSync(join(bare, 'hooks'), { recursive: true });
    // The store is found by the configuration of the repository that is worked in.
    stockGit(['config', 'mesh.dir', studio.store], { cwd: work });
    hook(join(work, '.git'), 'pre-push', 'git-mesh guard --strict >&2');
    hook(
      join(work, '.git'),
      'post-commit',
      'git-mesh send studio note --from boss --message "committed in $GIT_DIR" >&2',
      'git-mesh inbox boss >&2',
      'git-mesh sync >&2',
    );
    hook(
      bare,
      'pre-receive',
      `git-mesh --dir '${studio.store.replaceAll("'", `'\\''`)}' send studio pr-ready --from boss >&2`,
    );
    // As git finds it in the user's shell: without the test's GIT_MESH_DIR.
    const env = Object.fromEntries(Object.entries(studio.env).filter(([name]) => name !== 'GIT_MESH_DIR'));
    const user = { GIT_AUTHOR_NAME: 'u', GIT_AUTHOR_EMAIL: 'u@x', GIT_COMMITTER_NAME: 'u', GIT_COMMITTER_EMAIL: 'u@x' };
    const git = (cwd: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('git', args, { cwd, env: { ...env, ...user }, encoding: 'utf8' });
      return { status, stdout: stdout.trim(), stderr };
    };
    const sent = async (): Promise<unknown[]> =>
      (await studio.json(['sent'])).messages.map(({ msg_type, state }) => `${msg_type} ${state}`).reverse();

    const staged = git(work, 'diff', '--cached', '--name-only').stdout;
    expect(git(work, 'commit', '-q', '-m', 'second')).toMatchObject({ status: 0 });
    expect(git(work, 'show', '--format=', '--name-only', 'HEAD').stdout).toBe(staged);
    expect(git(linked, 'commit', '-q', '--allow-empty', '-m', 'linked')).toMatchObject({ status: 0 });
    expect(await sent()).toEqual(['note delivered', 'note delivered']);
    expect(git(work, 'push', '-q', bare, 'main')).toMatchObject({ status: 0 });
    expect(await sent()).toEqual(['note delivered', 'note delivered', 'pr-ready delivered']);
    expect(git(bare, 'rev-parse', 'main').stdout).toBe(git(work, 'rev-parse', 'main').stdout);

    await studio.json(['send', 'studio', 'freeze', '--from', 'boss', '--payload', '{"repo":"app"}']);
    git(work, '-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'third');
    expect(git(work, 'push', '-q', bare, 'main')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^frozen/) as string,
    });
    expect(git(bare, 'rev-parse', 'main').stdout).toBe(git(work, 'rev-parse', 'main~1').stdout);

    // Nothing of the mesh got into the user's repositories, nor anything of theirs into the mesh.
    expect(git(work, 'status', '--porcelain').stdout).toBe('M src/crlf.txt\n?? untracked');
    for (const repository of [work, linked, bare]) {
      expect(git(repository, 'fsck', '--strict', '--no-dangling').status).toBe(0);
      expect(git(repository, 'for-each-ref', '--format=%(refname)').stdout).not.toContain('mesh');
      expect(
        git(repository, 'cat-file', '--batch-all-objects', '--batch-check').stdout.split('\n').length,
      ).toBeLessThan(20);
    }
    studio.git(['fsck', '--strict']);
    stockGit(['--git-dir', remote, 'fsck', '--strict']);
  },
  180_000,
);

test.skipIf(!onPosix)(
  'a home that cannot be written is in nobody’s way, and is told where the store should be in it',
  (ctx) => {
    const root = scratch();
    const id = 65_534;
    const as = isRoot ? { uid: id, gid: id } : {};
    const home = join(root, 'home');
    const own = join(root, 'own');
    const hub = join(own, 'hub.git');
    mkdirSync(own);
    const env = cleanEnvironment(root, { GIT_MESH_DIR: join(own, 'store') });
    writeFileSync(join(home, '.gitconfig'), '[core]\n\thooksPath = /nowhere\n');
    stockGit(['init', '-q', '--bare', hub]);
    chmodSync(root, 0o755);
    chmodSync(join(home, '.gitconfig'), 0o644);
    if (isRoot) execFileSync('chown', ['-R', `${id}:${id}`, own]);
    chmodSync(home, 0o555);
    const run = (args: readonly string[], more: Record<string, string> = {}) =>
      spawnSync(process.execPath, [launcher, ...args], { ...as, cwd: own, env: { ...env, ...more }, encoding: 'utf8' });
    try {
      if (run(['--version']).status !== 0)
        ctx.skip(`the user ${id} may not read ${workspaceRoot} or ${process.execPath}`);
      const calls = everyCommand({ remote: hub, second: join(own, 'two.git'), bundle: join(own, 'x.bundle') });
      for (const line of calls.filter(([name]) => !['remote', 'reclaim', 'setup'].includes(name ?? ''))) {
        const { status, stdout, stderr } = run(line);
        expect(status, `git-mesh ${line.join(' ')}\n${stdout}\n${stderr}`).toBe(0);
      }
      // What is to be written there is refused, with --dry-run too.
      expect(run(['setup', 'cursor', '--dry-run'])).toMatchObject({ status: 4, stdout: '' });
      const refused = run(['init', '--machine', 'other'], { GIT_MESH_DIR: '' });
      expect(refused.status).toBe(5);
      expect(refused.stderr).toMatch(/--dir/);
      expect(refused.stderr).toContain(join(home, '.local'));
      expect(existsSync(join(home, '.local'))).toBe(false);
    } finally {
      chmodSync(home, 0o755);
    }
  },
  120_000,
);

test.skipIf(!isRoot)(
  'a remote that belongs to another user is told with a command that, run as it is, makes it work',
  async () => {
    const root = awkwardFolder();
    const remote = bareRemote(root, 'hub "of" an other.git');
    const studio = new Machine(root, 'studio');
    await studio.json(['init', '--remote', remote, '--machine', 'studio']);
    execFileSync('chown', ['-R', '12345:12345', remote]);
    expect((await studio.json(['send', 'studio', 'note'])).state).toBe('delivered');
    const ended = await studio.run(['sync', '--json']);
    expect(ended.code).toBe(5);
    const { error } = JSON.parse(ended.stdout) as { error: { name: string; message: string } };
    expect(error.name).toBe('auth_failed');
    const advice = /git config --global --add safe\.directory .*/.exec(error.message)?.[0] ?? 'no advice';
    const { GIT_MESH_DIR: _, ...env } = studio.env;
    const done = spawnSync('sh', ['-c', advice], { cwd: root, env, encoding: 'utf8' });
    expect(done, advice).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(root, 'studio', 'home', '.gitconfig'), 'utf8')).toContain('of');
    expect(await studio.json(['sync'])).toMatchObject({ state: 'ok', queued: 0, error: null });
  },
);
