import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitEnv, writeGitConfig } from './git-env.js';

describe('gitEnv', () => {
  it("lets nothing of git's pass but where its parts are", () => {
    const env = { GIT_DIR: 'x', git_work_tree: 'x', GIT_CONFIG_COUNT: '1', GIT_TRACE2: '1', GIT_REDIRECT_STDOUT: 'x' };
    expect(
      gitEnv({ ...env, GIT_EXEC_PATH: '/git', PATH: '/bin', HOME: undefined }, { globalConfig: '/m/gitconfig' }),
    ).toEqual({
      GIT_EXEC_PATH: '/git',
      PATH: '/bin',
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/m/gitconfig',
    });
  });

  it('hides the whole of the configuration from git when no file is given', () => {
    const env = gitEnv({ PATH: process.env['PATH'], HOME: tmpdir() });
    expect(execFileSync('git', ['config', '--list', '--global'], { env }).toString()).toBe('');
  });
});

describe('writeGitConfig', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'git-mesh-env-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it("takes over the user's safe.directory values exactly and nothing else", async () => {
    const values = ['/srv/a b', '', '*', 'C:\\share\\"x"', '%(prefix)/y', '~/z;#', ' spaced '];
    const env = { PATH: process.env['PATH'], HOME: join(root, 'home') };
    mkdirSync(env.HOME);
    for (const value of values) execFileSync('git', ['config', '--global', '--add', 'safe.directory', value], { env });
    execFileSync('git', ['config', '--global', 'core.hooksPath', '/nowhere'], { env });
    // Values in a file that is included count too.
    writeFileSync(join(root, 'more'), '[safe]\n\tdirectory = /included\n');
    execFileSync('git', ['config', '--global', 'include.path', join(root, 'more')], { env });

    const file = await writeGitConfig({ file: join(root, 'mesh', 'gitconfig'), env });
    const listed = execFileSync('git', ['config', '--file', file, '--null', '--list'], { env }).toString();
    const expected = [...values, '/included'].map((value) => `safe.directory\n${value}\0`).join('');
    expect(listed).toBe(expected);

    const before = statSync(file, { bigint: true });
    await writeGitConfig({ file, env });
    expect(statSync(file, { bigint: true }).ino).toBe(before.ino);
    expect(readdirSync(join(root, 'mesh'))).toEqual(['gitconfig']);
  });

  it.skipIf(process.platform === 'win32')('keeps what it knew where the configuration does not answer', async () => {
    const file = join(root, 'mesh', 'gitconfig');
    const home = join(root, 'home');
    mkdirSync(home);
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
    execFileSync('git', ['config', '--global', '--add', 'safe.directory', '/srv/hub'], { env });
    await writeGitConfig({ file, env });
    const known = readFileSync(file, 'utf8');
    expect(known).toContain('/srv/hub');

    // A pipe that nobody writes to hangs whoever reads it, as a dead network home does.
    rmSync(join(home, '.gitconfig'));
    execFileSync('mkfifo', [join(home, '.gitconfig')]);
    const began = performance.now();
    await writeGitConfig({ file, env });
    await writeGitConfig({ file: join(root, 'fresh'), env });
    expect(performance.now() - began).toBeLessThan(4_500);
    expect(readFileSync(file, 'utf8')).toBe(known);
    expect(readFileSync(join(root, 'fresh'), 'utf8')).not.toContain('/srv/hub');
  });

  it('makes an empty one where git is missing', async () => {
    const file = await writeGitConfig({ file: join(root, 'gitconfig'), env: { PATH: root } });
    const env = { PATH: process.env['PATH'] };
    expect(execFileSync('git', ['config', '--file', file, '--list'], { env }).toString()).toBe('');
  });
});
