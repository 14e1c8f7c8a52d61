import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { SshUrl } from '../remote-url.js';
import { quoteForShell, sshArguments, sshByHand, sshProcess, sshProgram } from './ssh-command.js';

const nothing = { command: null, variant: null };
const url: SshUrl = { kind: 'ssh', user: 'git', host: '::1', port: 2222, path: '/x', url: 'ssh://git@[::1]:2222/x' };
const posix = process.platform !== 'win32';

describe('sshProgram', () => {
  it("keeps git's order: GIT_SSH_COMMAND, core.sshCommand, GIT_SSH, ssh; an empty one is none", () => {
    const env = { GIT_SSH_COMMAND: 'ssh -4', GIT_SSH: '/opt/my ssh' };
    const config = { command: 'ssh -6', variant: null };
    expect(sshProgram(env, config)).toMatchObject({ command: 'ssh -4', shell: true, source: 'GIT_SSH_COMMAND' });
    expect(sshProgram({ ...env, GIT_SSH_COMMAND: '' }, config)).toMatchObject({ command: 'ssh -6', shell: true });
    expect(sshProgram({ GIT_SSH: '/opt/my ssh' }, nothing)).toMatchObject({ command: '/opt/my ssh', shell: false });
    expect(sshProgram({}, nothing)).toEqual({ command: 'ssh', shell: false, variant: 'ssh', source: 'default' });
  });

  it.each([
    ['ssh', 'ssh'],
    ['/usr/bin/ssh -i key', 'ssh'],
    ['"C:\\Program Files\\OpenSSH\\ssh.exe" -4', 'ssh'],
    ["'/opt/my tools/plink' -v", 'plink'],
    ['C:/PuTTY/PLINK.EXE', 'plink'],
    ['/opt/my\\ tools/tortoiseplink.exe', 'tortoiseplink'],
    ['X=1 ssh', 'auto'],
    ['my-wrapper ssh', 'auto'],
  ])('tells from the command line %s that it is %s', (command, variant) => {
    expect(sshProgram({ GIT_SSH_COMMAND: command }, nothing).variant).toBe(variant);
  });

  it('believes what the user says it is', () => {
    const env = { GIT_SSH: 'wrapper' };
    expect(sshProgram({ ...env, GIT_SSH_VARIANT: 'putty' }, nothing).variant).toBe('plink');
    expect(sshProgram(env, { command: null, variant: 'simple' }).variant).toBe('simple');
    expect(sshProgram({ ...env, GIT_SSH_VARIANT: 'auto' }, { command: null, variant: 'ssh' }).variant).toBe('auto');
    expect(sshProgram({ ...env, GIT_SSH_VARIANT: 'openssh' }, nothing).variant).toBe('ssh');
  });
});

describe('sshArguments', () => {
  it('gives each variant its own options, and none of them a way to ask', () => {
    const ssh = sshArguments('ssh', url, 'git-upload-pack');
    expect(ssh.slice(0, 2)).toEqual(['-o', 'BatchMode=yes']);
    expect(ssh.slice(-4)).toEqual(['-p', '2222', 'git@::1', 'git-upload-pack']);
    expect(sshArguments('plink', url, 'c')).toEqual(['-batch', '-P', '2222', 'git@::1', 'c']);
    expect(sshArguments('tortoiseplink', { ...url, port: null }, 'c')).toEqual(['-batch', 'git@::1', 'c']);
    expect(sshArguments('simple', { ...url, port: null, user: null }, 'c')).toEqual(['::1', 'c']);
    expect(() => sshArguments('simple', url, 'c')).toThrow('takes no port');
  });

  it('names the line that a person can run', () => {
    expect(sshByHand(url)).toBe('ssh -p 2222 git@::1');
  });
});

describe('quoteForShell', () => {
  it.each(["it's", 'a b', '$(x) `x` "x"', 'bang!', "''", '漢\\é*', '-x', '~'])('carries %s unchanged', (argument) => {
    if (posix) {
      expect(execFileSync('sh', ['-c', `printf %s ${quoteForShell(argument)}`], { encoding: 'utf8' })).toBe(argument);
    }
    expect(quoteForShell(argument)).toMatch(/^'.*'$/);
  });

  it('quotes as git does', () => {
    expect(quoteForShell("/it's!")).toBe("'/it'\\''s'\\!''");
  });
});

describe('sshProcess', () => {
  const args = ['-p', '22', 'a b', "it's", '$HOME', ''];
  const line = {
    command: 'printf "<%s>" "$((1 + 1))"',
    shell: true,
    variant: 'ssh',
    source: 'core.sshCommand',
  } as const;

  it.each(posix ? (['linux', 'win32'] as const) : (['win32'] as const))(
    'gives a line to the shell and the arguments untouched: %s',
    (platform) => {
      const { program, args: all } = sshProcess(line, args, platform);
      expect(execFileSync(program, all, { encoding: 'utf8' })).toBe("<2><-p><22><a b><it's><$HOME><>");
    },
  );

  it('starts a plain program without a shell', () => {
    expect(sshProcess({ ...line, command: 'myssh' }, args, 'linux')).toEqual({ program: 'myssh', args });
    expect(sshProcess({ ...line, command: '/my ssh', shell: false }, args, 'linux')).toEqual({
      program: '/my ssh',
      args,
    });
  });
});
