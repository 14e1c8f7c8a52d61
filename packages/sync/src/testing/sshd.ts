import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const binary = '/usr/sbin/sshd';

/** Why there can be no real sshd here; null where there can. */
export const noSshd: string | null =
  process.platform === 'win32'
    ? 'no OpenSSH server as on POSIX systems'
    : existsSync(binary)
      ? null
      : `${binary} is missing (Debian: apt-get install openssh-server)`;

/** An OpenSSH server on loopback with keys of its own, run by the current user, who is also the one who logs in. */
export class Sshd {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #knownHosts: string;

  private constructor(folder: string, port: number, child: ChildProcess) {
    this.#folder = folder;
    this.port = port;
    this.#child = child;
    this.#knownHosts = join(folder, 'known_hosts');
  }

  /** `folder` is made, and is the caller's to remove after {@link stop}. */
  static async start(folder: string): Promise<Sshd> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Of the machine, not of the test: a root's sshd will not start without it, and the service's start makes it.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    for (const name of ['host', 'user', 'stranger']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, name)]);
    }
    const port = await freePort();
    const server = new Sshd(folder, port, startSshd(folder, port));
    server.admit('');
    const host = readFileSync(join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
    writeFileSync(server.#knownHosts, `[127.0.0.1]:${port} ${host}\n[::1]:${port} ${host}\nmesh-host ${host}\n`);
    writeFileSync(join(folder, 'ssh_config'), server.#clientConfig());
    await server.#answers();
    return server;
  }

  /** The line for GIT_SSH_COMMAND that reaches it, with further options before the others. */
  command(...options: string[]): string {
    return ['ssh', '-F', `'${join(this.#folder, 'ssh_config')}'`, ...options].join(' ');
  }

  /** Lets nobody in but this key (the user's own is the one offered), with options of authorized_keys as `command="…"`. */
  admit(options: string, name: 'user' | 'stranger' = 'user'): void {
    const key = readFileSync(`${this.key(name)}.pub`, 'utf8');
    writeFileSync(join(this.#folder, 'authorized_keys'), `${options}${options === '' ? '' : ' '}${key}`);
  }

  /** The file of a private key: that of the user who is let in, or of one who is not. */
  key(name: 'user' | 'stranger'): string {
    return join(this.#folder, name);
  }

  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.port}${encodeURI(path)}`;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill();
    await gone;
  }

  /** `mesh-host` is a name that only this configuration knows. */
  #clientConfig(): string {
    return [
      'Host mesh-host',
      '  HostName 127.0.0.1',
      `  Port ${this.port}`,
      '  HostKeyAlias mesh-host',
      'Host *',
      `  User ${userInfo().username}`,
      `  IdentityFile "${this.key('user')}"`,
      '  IdentitiesOnly yes',
      `  UserKnownHostsFile "${this.#knownHosts}"`,
      '  GlobalKnownHostsFile /dev/null',
      '  StrictHostKeyChecking ask',
      '',
    ].join('\n');
  }

  async #answers(): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      if (this.#child.exitCode !== null) break;
      if (await connects(this.port)) return;
      await wait(50);
    }
    const log = join(this.#folder, 'sshd.log');
    throw new Error(`sshd did not start: ${existsSync(log) ? readFileSync(log, 'utf8') : 'no log'}`);
  }
}

function startSshd(folder: string, port: number): ChildProcess {
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey "${join(folder, 'host')}"`,
    `AuthorizedKeysFile "${join(folder, 'authorized_keys')}"`,
    'PidFile none',
    'UsePAM no',
    // The temporary folder's parents are not the user's own.
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 100',
    'AcceptEnv LANG LC_*',
    '',
  ].join('\n');
  writeFileSync(join(folder, 'sshd_config'), config);
  const args = ['-D', '-E', join(folder, 'sshd.log'), '-f', join(folder, 'sshd_config')];
  return spawn(binary, args, { stdio: 'ignore' });
}

/** A port of loopback on which nothing listens at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
