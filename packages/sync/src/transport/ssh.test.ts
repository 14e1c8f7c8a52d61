import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Oid, RefName } from '@git-mesh/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseRemoteUrl } from '../remote-url.js';
import type { SshUrl } from '../remote-url.js';
import { GitFixture } from '../testing/git-fixture.js';
import { freePort, noSshd, Sshd } from '../testing/sshd.js';
import { expectError, transportContract } from './contract.suite.js';
import { fetchPack } from './fetch.js';
import type { Exchange, Service, Transport } from './port.js';
import { pushRefs } from './push.js';
import { sshTransport } from './ssh.js';

const { signal } = new AbortController();
const maxBytes = 1 << 26;
const studio = 'refs/heads/mesh/studio' as RefName;

if (noSshd !== null) process.stderr.write(`The ssh transport is not tested against a real server: ${noSshd}.\n`);

function sshUrl(text: string): SshUrl {
  const url = parseRemoteUrl(text, { cwd: '/' });
  if (url.kind !== 'ssh') throw new Error(`no ssh URL: ${text}`);
  return url;
}

/** One server for the whole file; what it lets in is set back before every test. */
let folder = '';
let sshd: Sshd;

beforeAll(async () => {
  if (noSshd !== null) return;
  folder = mkdtempSync(join(tmpdir(), 'git-mesh-sshd-'));
  sshd = await Sshd.start(folder);
});
afterAll(async () => {
  if (noSshd !== null) return;
  await sshd.stop();
  rmSync(folder, { recursive: true, force: true });
});

function reach(
  fixture: GitFixture,
  text: string,
  { command = sshd.command(), env = {} }: { command?: string; env?: Readonly<Record<string, string>> } = {},
): Transport {
  return sshTransport({ url: sshUrl(text), env: { ...fixture.env, GIT_SSH_COMMAND: command, ...env } });
}

/** A program in a folder of the test; its path, quoted for GIT_SSH_COMMAND. */
function script(fixture: GitFixture, name: string, text: string): string {
  writeFileSync(fixture.path(name), `#!/bin/sh\n${text}\n`);
  chmodSync(fixture.path(name), 0o755);
  return `'${fixture.path(name)}'`;
}

/** What runs with this text among its arguments. */
function processesWith(text: string): string[] {
  const listed = spawnSync('ps', ['-eo', 'stat=,args=']).stdout.toString().split('\n');
  return listed.filter((line) => line.includes(text) && !line.startsWith('Z'));
}

describe.skipIf(noSshd !== null)('with a real sshd', () => {
  beforeEach(() => {
    sshd.admit('');
  });

  transportContract('ssh', (fixture) => ({
    reach: (path) => reach(fixture, sshd.url(path)),
    reachHanging: (path) => {
      sshd.admit('command="exec cat > /dev/null"');
      return reach(fixture, sshd.url(path));
    },
  }));

  describe('sshTransport', () => {
    let fixture: GitFixture;
    let remote: string;
    beforeEach(() => {
      fixture = new GitFixture();
      remote = fixture.bare('remote.git');
    });
    afterEach(() => {
      fixture.remove();
    });
    const open = (transport: Transport, service: Service = 'git-upload-pack'): Promise<Exchange> =>
      transport.open(service, { signal });
    const refsOver = async (transport: Transport): Promise<ReadonlyMap<RefName, Oid>> => {
      const exchange = await open(transport);
      await exchange.close();
      return exchange.advertised.refs;
    };

    it('says of a key that is not let in what to try by hand', async () => {
      sshd.admit('', 'stranger');
      const { message } = await expectError('auth_failed', () => open(reach(fixture, sshd.url(remote))));
      expect(message).toMatch(new RegExp(`\`ssh -p ${sshd.port} \\w+@127\\.0\\.0\\.1\` once by hand`));
      expect(message).toContain('Permission denied (publickey)');
    });

    it('asks nobody about a host key it does not know, and says what to do', async () => {
      const command = sshd.command('-o', 'UserKnownHostsFile=/dev/null');
      const { message } = await expectError('auth_failed', () => open(reach(fixture, sshd.url(remote), { command })));
      expect(message).toContain('is not known on this machine: run `ssh -p ');
    });

    it('warns of a host key that changed', async () => {
      const wrong = readFileSync(`${sshd.key('stranger')}.pub`, 'utf8');
      writeFileSync(fixture.path('known'), `[127.0.0.1]:${sshd.port} ${wrong}`);
      const command = sshd.command('-o', `UserKnownHostsFile='${fixture.path('known')}'`);
      const { message } = await expectError('auth_failed', () => open(reach(fixture, sshd.url(remote), { command })));
      expect(message).toContain('may be an attack');
      expect(message).toContain('ssh-keygen -R "[127.0.0.1]:');
    });

    it('tells a closed port and a name that does not exist', async () => {
      const port = await freePort();
      const closed = await expectError('unreachable', () => open(reach(fixture, `ssh://127.0.0.1:${port}/x`)));
      expect(closed.message).toContain(`127.0.0.1 port ${port} refuses connections`);
      const noName = await expectError('unreachable', () => open(reach(fixture, 'ssh://no-such-host.invalid/x')));
      expect(noName.message).toContain('cannot be resolved');
    });

    it('names the host, the step and the last words of one that asks and waits', async () => {
      sshd.admit('command="echo Password: >&2; exec cat > /dev/null"');
      const late = { signal: AbortSignal.timeout(3_000) };
      const error = await expectError('deadline', () => reach(fixture, sshd.url(remote)).open('git-upload-pack', late));
      expect(error.message).toBe(
        '127.0.0.1 was given up while connecting, or waiting for its list of branches; the last it said: Password:',
      );
    });

    it('gives up a host that accepts and says nothing, and leaves no process behind', async () => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = silent.address() as AddressInfo;
        const mark = fixture.path('mark');
        const command = sshd.command('-o', `ProxyCommand='sh -c "sleep 600 & sleep 600; : ${mark}"'`);
        const started = Date.now();
        const late = { signal: AbortSignal.timeout(1_500) };
        await Promise.all([
          expectError('deadline', () => reach(fixture, `ssh://127.0.0.1:${port}/x`).open('git-upload-pack', late)),
          expectError('deadline', () => reach(fixture, 'ssh://h/x', { command }).open('git-upload-pack', late)),
        ]);
        expect(Date.now() - started).toBeLessThan(6_000);
        expect(processesWith(`-p ${port}`)).toEqual([]);
        expect(processesWith(mark)).toEqual([]);
        // The kernel tells of the other's end a moment later.
        await expect.poll(() => sockets.every((socket) => socket.readableEnded || socket.destroyed)).toBe(true);
      } finally {
        for (const socket of sockets) socket.destroy();
        silent.close();
      }
    });

    it('opens paths with quotes, spaces and what a shell would run', async () => {
      for (const name of ["it's $(touch ran); `touch ran`.git", 'a "b" é ñ 漢.git', 'bang! \\back & *.git', '~x.git']) {
        const path = fixture.path('odd', name);
        mkdirSync(fixture.path('odd'), { recursive: true });
        fixture.git(['init', '--quiet', '--bare', path]);
        const tip = fixture.commit(path, name);
        fixture.setRef(path, studio, tip);
        expect((await refsOver(reach(fixture, sshd.url(path)))).get(studio)).toBe(tip);
        expect((await refsOver(reach(fixture, `mesh-host:${path}`))).get(studio)).toBe(tip);
      }
    });

    it("honours a name and a user of ssh's own configuration", async () => {
      fixture.setRef(remote, studio, fixture.commit(remote, 'one'));
      expect((await refsOver(reach(fixture, `ssh://mesh-host${remote}`))).size).toBe(1);
    });

    it('runs GIT_SSH_COMMAND through the shell, and finds out what a wrapper takes', async () => {
      const calls = fixture.path('calls');
      const wrapper = script(fixture, 'my wrapper', `echo "$X" "$@" >> '${calls}'\nexec ${sshd.command()} "$@"`);
      const transport = reach(fixture, sshd.url(remote), { command: `X=seen ${wrapper} -C` });
      await refsOver(transport);
      await refsOver(transport);
      const lines = readFileSync(calls, 'utf8').trim().split('\n');
      // Asked once, then run once for each exchange.
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(/^seen -C -G -o BatchMode=yes /);
      expect(lines[1]).toMatch(
        /^seen -C -o BatchMode=yes -o ConnectTimeout=10 .* -p \d+ \w+@127\.0\.0\.1 git-upload-pack '/,
      );
    });

    it('takes core.sshCommand of the user, and GIT_SSH without a shell, in the order that git has', async () => {
      const used = (name: string): string =>
        script(fixture, name, `echo ${name} >> '${fixture.path('used')}'\nexec ${sshd.command()} "$@"`);
      used('program');
      writeFileSync(fixture.path('gitconfig'), '');
      const env = { ...fixture.env, GIT_SSH: fixture.path('program'), GIT_CONFIG_GLOBAL: fixture.path('gitconfig') };
      const transport = (): Transport => sshTransport({ url: sshUrl(sshd.url(remote)), env });
      await refsOver(transport());
      expect(readFileSync(fixture.path('used'), 'utf8')).toBe('program\nprogram\n');
      fixture.git(['config', '--file', fixture.path('gitconfig'), 'core.sshCommand', used('configured')]);
      fixture.git(['config', '--file', fixture.path('gitconfig'), 'ssh.variant', 'ssh']);
      await refsOver(transport());
      expect(readFileSync(fixture.path('used'), 'utf8')).toBe('program\nprogram\nconfigured\n');
    });

    it('hands nothing of git on, no askpass, and no terminal', async () => {
      const seen = fixture.path('seen');
      const text = `env > '${seen}'; (exec < /dev/tty) 2>/dev/null && echo TTY=yes >> '${seen}'\nexec ${sshd.command()} "$@"`;
      const env = {
        GIT_PROTOCOL: 'version=2',
        GIT_DIR: '/x',
        GIT_MESH_TOKEN: 't',
        SSH_ASKPASS: '/x',
        GIT_SSH_VARIANT: 'ssh',
      };
      await refsOver(reach(fixture, sshd.url(remote), { command: script(fixture, 'wrapper', text), env }));
      const names = readFileSync(seen, 'utf8');
      expect(names).not.toMatch(/^(GIT_|SSH_ASKPASS=|TTY=)/m);
      expect(names).toMatch(/^SSH_ASKPASS_REQUIRE=never$/m);
    });

    it('takes a host that answers in version 1', async () => {
      fixture.setRef(remote, studio, fixture.commit(remote, 'one'));
      sshd.admit('command="GIT_PROTOCOL=version=1 sh -c \\"$SSH_ORIGINAL_COMMAND\\""');
      expect((await refsOver(reach(fixture, sshd.url(remote)))).size).toBe(1);
    });

    it('says that a shell which prints a greeting must not', async () => {
      for (const greeting of ['Welcome to the machine', '2024-01-01 last login', 'abc']) {
        sshd.admit(`command="echo '${greeting}'; sh -c \\"$SSH_ORIGINAL_COMMAND\\""`);
        const { message } = await expectError('protocol_error', () => open(reach(fixture, sshd.url(remote))));
        expect(message).toContain(`wrote "${greeting}`);
        expect(message).toContain('start-up files');
      }
    });

    it('is not misled by a banner, and shows what comes after it', async () => {
      const banner = 'UNAUTHORIZED ACCESS IS FORBIDDEN. Connection refused to strangers.\\n'.repeat(12);
      sshd.admit(`command="printf '${banner}' >&2; echo 'fatal: out of cheese https://bob:hunter2@h/' >&2; exit 7"`);
      const { message } = await expectError('protocol_error', () => open(reach(fixture, sshd.url(remote))));
      expect(message).toContain('status 7');
    });

    it.each([
      ['git-upload-pack', 'ERROR: Repository not found.', 'remote_not_found', 'no git repository at that path'],
      ['git-upload-pack', 'sh: 1: git-upload-pack: not found', 'unreachable', 'git is not installed on'],
      ['git-upload-pack', 'bash: line 1: git-upload-pack: command not found', 'unreachable', 'git is not installed on'],
      [
        'git-upload-pack',
        "fatal: unsafe repository ('/x' ...) safe.directory",
        'auth_failed',
        'belongs to another user',
      ],
      ['git-upload-pack', 'FATAL: R any x/y ann DENIED by fallthru', 'auth_failed', 'for the right'],
      [
        'git-receive-pack',
        'ERROR: The key you are authenticating with has been marked as read only.',
        'push_refused',
        'read only',
      ],
    ] as const)('tells what a host means: %s, "%s"', async (service, words, name, expected) => {
      sshd.admit(`command="echo \\"${words}\\" >&2; exit 1"`);
      const { message } = await expectError(name, () => open(reach(fixture, sshd.url(remote)), service));
      expect(message).toContain(expected);
      expect(message).toContain('(it says: ');
    });

    it('says what to install where ssh is missing, and what is wrong where its replacement is', async () => {
      const env = { PATH: fixture.path('empty') };
      const url = sshUrl(sshd.url(remote));
      const missing = await expectError('unreachable', () => open(sshTransport({ url, env })));
      expect(missing.message).toContain('openssh-client');
      for (const command of ['no-such-ssh', 'no-such-ssh -v']) {
        const wrong = await expectError('unreachable', () => open(reach(fixture, sshd.url(remote), { command })));
        expect(wrong.message).toContain('GIT_SSH_COMMAND');
      }
    });

    it('gives a program that takes no options none, and refuses a port for it', async () => {
      const simple = script(
        fixture,
        'simple',
        `[ "$1" = -G ] && exit 1\nexec ${sshd.command('-p', String(sshd.port))} "$@"`,
      );
      await refsOver(reach(fixture, `mesh-host:${remote}`, { command: simple }));
      await expectError('invalid_argument', () => open(reach(fixture, sshd.url(remote), { command: simple })));
    });

    it('reports a connection that is lost in the middle of a fetch', async () => {
      const tip = fixture.commit(remote, randomBytes(6_000_000).toString('base64'));
      fixture.setRef(remote, studio, tip);
      const pid = fixture.path('pid');
      const command = script(fixture, 'wrapper', `echo $$ > '${pid}'\nexec ${sshd.command()} "$@"`);
      const exchange = await open(reach(fixture, sshd.url(remote), { command, env: { GIT_SSH_VARIANT: 'ssh' } }));
      let bytes = 0;
      const error = await expectError('unreachable', async () => {
        for await (const chunk of exchange.post(Buffer.from(`0032want ${tip}\n00000009done\n`))) {
          if (bytes === 0) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
          bytes += chunk.length;
        }
      });
      expect(error.message).toContain('was lost');
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(6_000_000);
      await exchange.close();
      await expect.poll(() => processesWith(remote)).toEqual([]);
    });

    it.each([
      ['stops', 'exec sleep 8', 'deadline'],
      ['cuts', 'exit 0', 'protocol_error'],
      ['is killed', 'kill -9 $$', 'unreachable'],
    ] as const)('takes no part of a pack from a host that %s in the middle of it', async (_what, then, name) => {
      const tip = fixture.commit(remote, randomBytes(50_000).toString('base64'));
      fixture.setRef(remote, studio, tip);
      // All of the advertisement and of the acknowledgement, and a part of the pack.
      const text = `sh -c "$SSH_ORIGINAL_COMMAND" | dd bs=1 count=600 2> /dev/null\n${then}`;
      sshd.admit(`command="${script(fixture, 'cut', text)}"`);
      const late = AbortSignal.timeout(4_000);
      const exchange = await reach(fixture, sshd.url(remote)).open('git-upload-pack', { signal: late });
      await expectError(name, () => fetchPack(exchange, { wants: [tip], haves: [], signal, maxBytes }));
      expect(processesWith(`-p ${sshd.port}`)).toEqual([]);
    });

    it('is not held up by what ssh leaves behind with its stderr', async () => {
      const command = script(fixture, 'wrapper', `sleep 15 > /dev/null &\nexec ${sshd.command()} "$@"`);
      const exchange = await open(reach(fixture, sshd.url(remote), { command, env: { GIT_SSH_VARIANT: 'ssh' } }));
      const started = Date.now();
      await exchange.close();
      expect(Date.now() - started).toBeLessThan(5_000);
    });

    it('finds a path in the home of the user there', async () => {
      fixture.setRef(remote, studio, fixture.commit(remote, 'one'));
      sshd.admit(`command="HOME='${fixture.root}' sh -c \\"$SSH_ORIGINAL_COMMAND\\""`);
      for (const url of ['ssh://mesh-host/~/remote.git', 'mesh-host:~/remote.git']) {
        expect((await refsOver(reach(fixture, url))).size).toBe(1);
      }
    });

    it('leaves no process behind when an answer is left early', async () => {
      const tip = fixture.commit(remote, randomBytes(3_000_000).toString('base64'));
      fixture.setRef(remote, studio, tip);
      const exchange = await open(reach(fixture, sshd.url(remote)));
      for await (const _chunk of exchange.post(Buffer.from(`0032want ${tip}\n00000009done\n`))) break;
      await exchange.close();
      // The host's own end of it goes a moment later.
      await expect.poll(() => processesWith(remote)).toEqual([]);
    });

    it('lists, fetches and pushes hundreds of branches', async () => {
      const tips = Array.from({ length: 300 }, (_, n) => fixture.commit(remote, `machine ${n}`));
      const stdin = tips.map((tip, n) => `create refs/heads/mesh/machine-${n} ${tip}\n`).join('');
      fixture.git(['-C', remote, 'update-ref', '--stdin'], stdin);
      const transport = reach(fixture, sshd.url(remote));
      const exchange = await open(transport);
      expect(new Map(exchange.advertised.refs)).toEqual(fixture.refs(remote));
      const pack = await fetchPack(exchange, { wants: tips, haves: [], signal, maxBytes });
      expect(Buffer.from(pack).readUInt32BE(8)).toBe(900);

      const updates = tips.map((next, n) => ({ ref: `refs/heads/copy/m-${n}` as RefName, expected: null, next }));
      const pushed = await pushRefs(await open(transport, 'git-receive-pack'), {
        updates,
        pack: null,
        atomic: true,
        signal,
      });
      expect(pushed.filter(({ ok }) => ok)).toHaveLength(300);
    });

    it("gives a hook's words with a refused push", async () => {
      const tip = fixture.commit(remote, 'one');
      writeFileSync(join(remote, 'hooks', 'pre-receive'), '#!/bin/sh\necho protected by the moon >&2\nexit 1\n', {
        mode: 0o755,
      });
      const exchange = await open(reach(fixture, sshd.url(remote)), 'git-receive-pack');
      const updates = [{ ref: studio, expected: null, next: tip }];
      const [refused] = await pushRefs(exchange, { updates, pack: null, atomic: true, signal });
      expect(refused).toMatchObject({ ok: false });
      expect(refused?.reason).toContain('protected by the moon');
    });

    it('carries several exchanges at once', async () => {
      fixture.setRef(remote, studio, fixture.commit(remote, 'one'));
      const transport = reach(fixture, sshd.url(remote));
      const all = await Promise.all(Array.from({ length: 6 }, () => refsOver(transport)));
      expect(all.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1, 1]);
    });

    it('never lets an option through, wherever its URL came from', () => {
      for (const part of [{ host: '-oProxyCommand=x' }, { user: '-x' }, { path: '-x' }]) {
        expect(() => sshTransport({ url: { ...sshUrl('a@b:c'), ...part }, env: {} })).toThrow('option');
      }
    });
  });
});
