import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { RefName } from '@git-mesh/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAuthority } from '../testing/certificate.js';
import { makeAuthority } from '../testing/certificate.js';
import { GitFixture } from '../testing/git-fixture.js';
import { HttpGitServer } from '../testing/http-git-server.js';
import { ProxyServer } from '../testing/proxy-server.js';
import { expectError, transportContract } from './contract.suite.js';
import { fetchPack } from './fetch.js';
import { httpTransport } from './http.js';

type Env = Record<string, string>;

const { signal } = new AbortController();
const posix = process.platform !== 'win32';
const main = 'refs/heads/main' as RefName;
const serving = new GitFixture();
let plain: HttpGitServer;
let secure: HttpGitServer;
let hanging: HttpGitServer;
let authority: TestAuthority;

beforeAll(async () => {
  authority = makeAuthority(serving.root);
  plain = await HttpGitServer.start({ root: '/', env: serving.env });
  secure = await HttpGitServer.start({ root: '/', env: serving.env, tls: authority.tls });
  hanging = await HttpGitServer.start({ root: '/', env: serving.env, tls: authority.tls });
  hanging.before = () => true;
});
afterAll(async () => {
  for (const server of [plain, secure, hanging]) await server.close();
  serving.remove();
});

transportContract('https with a user and password, and an authority of our own', (fixture) => {
  secure.login = { username: 'x-access-token', password: 'hunter2' };
  const env = { ...fixture.env, GIT_SSL_CAINFO: authority.caFile, GIT_MESH_TOKEN: 'hunter2' };
  return {
    reach: (path) => httpTransport({ url: secure.url(path), env }),
    reachHanging: (path) => httpTransport({ url: hanging.url(path), env }),
    noRepository: 'remote_not_found',
  };
});

describe('who we are and whom we trust', () => {
  let fixture: GitFixture;
  let remote: string;
  let env: Env;
  beforeEach(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
    env = { ...fixture.env, GIT_SSL_CAINFO: authority.caFile };
    for (const server of [plain, secure]) {
      server.login = null;
      server.seen.length = 0;
    }
  });
  afterEach(() => {
    fixture.remove();
  });
  const see = async (url: string, more: Env = {}) => {
    const exchange = await httpTransport({ url, env: { ...env, ...more } }).open('git-upload-pack', { signal });
    await exchange.close();
    return exchange.advertised;
  };
  const authorizations = (server: HttpGitServer): (string | undefined)[] =>
    server.seen.map(({ headers: { authorization } }) =>
      authorization === undefined ? undefined : Buffer.from(authorization.slice(6), 'base64').toString(),
    );
  /** A credential helper that knows `password` and writes down what it is told; the configuration that names it. */
  const helper = (password: string, username = 'bob'): Env => {
    const script = fixture.path('helper');
    writeFileSync(
      script,
      `#!/bin/sh\n{ echo "$1"; cat; } >> ${fixture.path('told')}\n[ "$1" = get ] && echo username=${username} && echo password=${password}\nexit 0\n`,
    );
    chmodSync(script, 0o755);
    return configured(`[credential]\n\thelper = ${script}\n`);
  };
  const configured = (config: string): Env => {
    writeFileSync(fixture.path('gitconfig'), config);
    return { GIT_CONFIG_GLOBAL: fixture.path('gitconfig') };
  };
  const told = (): string => (existsSync(fixture.path('told')) ? readFileSync(fixture.path('told'), 'utf8') : '');

  describe('credentials', () => {
    it('are not sent to a server that does not ask', async () => {
      await see(plain.url(remote, 'bob:hunter2'), { GIT_MESH_TOKEN: 'hunter2' });
      expect(authorizations(plain)).toEqual([undefined]);
    });

    it('of the URL are used alone, decoded, and shown nowhere', async () => {
      plain.login = { username: 'bob@x', password: 'hunter2:/' };
      await see(plain.url(remote, 'bob%40x:hunter2%3A%2F'), { GIT_MESH_TOKEN: 'other' });
      expect(authorizations(plain)).toEqual([undefined, 'bob@x:hunter2:/']);
      const error = await expectError('auth_failed', () =>
        see(plain.url(remote, 'bob:hunter2'), { GIT_MESH_TOKEN: 'other' }),
      );
      expect(error.message).toContain('the URL');
      expect(JSON.stringify([error.message, error.data, error.stack])).not.toContain('hunter2');
      expect(plain.seen).toHaveLength(4);
    });

    it('of GIT_MESH_TOKEN go with a name, and are kept for the next exchange', async () => {
      plain.login = { username: 'x-access-token', password: 'hunter2' };
      const transport = httpTransport({ url: plain.url(remote), env: { ...env, GIT_MESH_TOKEN: 'hunter2' } });
      for (let round = 0; round < 2; round++) await (await transport.open('git-upload-pack', { signal })).close();
      const sent = 'x-access-token:hunter2';
      expect(authorizations(plain)).toEqual([undefined, sent, sent]);
      plain.login = { username: 'alice', password: 'hunter2' };
      await see(plain.url(remote), { GIT_MESH_TOKEN: 'hunter2', GIT_MESH_USERNAME: 'alice' });
      await see(plain.url(remote, 'alice'), { GIT_MESH_TOKEN: 'hunter2' });
    });

    it('that are refused are not echoed by a server that repeats them', async () => {
      plain.before = (request, response) => {
        const said = request.headers.authorization ?? 'Basic ';
        request.resume();
        response.writeHead(said === 'Basic ' ? 401 : 403, { 'content-type': 'text/plain' });
        response.end(`refused ${said} which is ${Buffer.from(said.slice(6), 'base64').toString()}`);
        return true;
      };
      const error = await expectError('auth_failed', () => see(plain.url(remote), { GIT_MESH_TOKEN: 'hunter2' }));
      plain.before = () => false;
      expect(error.message).toContain('refused');
      expect(error.message).not.toContain('hunter2');
      expect(error.message).not.toContain(Buffer.from('x-access-token:hunter2').toString('base64'));
    });

    it.skipIf(!posix)("come from git's credential helper, which is told that they were taken", async () => {
      plain.login = { username: 'bob', password: 'hunter2' };
      await see(plain.url(remote), helper('hunter2'));
      expect(authorizations(plain)).toEqual([undefined, 'bob:hunter2']);
      const [asked = '', stored = ''] = told().split('store\n');
      expect(asked).toContain(`get\n`);
      expect(asked).toContain(`protocol=http\nhost=127.0.0.1:${plain.port}\n`);
      expect(stored).toContain('username=bob\npassword=hunter2\n');
    });

    it.skipIf(!posix)('that were refused are taken back from the helper', async () => {
      plain.login = { username: 'bob', password: 'changed' };
      const error = await expectError('auth_failed', () => see(plain.url(remote), helper('hunter2')));
      expect(error.message).toContain('credential helper');
      expect(told()).toContain('erase\n');
      expect(told()).not.toContain('store\n');
      expect(plain.seen).toHaveLength(2);
    });

    it.skipIf(!posix)('are looked for anew where those that worked no longer do', async () => {
      plain.login = { username: 'bob', password: 'first' };
      const transport = httpTransport({ url: plain.url(remote), env: { ...env, ...helper('first') } });
      await (await transport.open('git-upload-pack', { signal })).close();
      plain.login = { username: 'bob', password: 'second' };
      helper('second');
      await (await transport.open('git-upload-pack', { signal })).close();
      expect(authorizations(plain).slice(2)).toEqual(['bob:first', 'bob:second']);
      expect(told().match(/^(?:get|store|erase)$/gm)).toEqual(['get', 'store', 'erase', 'get', 'store']);
    });

    it.skipIf(!posix)('are asked of the helper where GIT_MESH_TOKEN is refused, and both are named', async () => {
      plain.login = { username: 'bob', password: 'hunter2' };
      await see(plain.url(remote), { ...helper('hunter2'), GIT_MESH_TOKEN: 'of another host' });
      plain.login = { username: 'bob', password: 'changed' };
      const { message } = await expectError('auth_failed', () =>
        see(plain.url(remote), { ...helper('hunter2'), GIT_MESH_TOKEN: 'x' }),
      );
      expect(message).toContain("GIT_MESH_TOKEN and of git's credential helper");
    });

    it.skipIf(!posix)('never make git ask anybody, nor hand our own token to it', async () => {
      plain.login = { username: 'bob', password: 'hunter2' };
      const asked = fixture.path('asked');
      for (const name of ['askpass', 'spy']) {
        writeFileSync(fixture.path(name), `#!/bin/sh\nenv > ${fixture.path(`${name}.env`)}; touch ${asked}; echo x\n`);
        chmodSync(fixture.path(name), 0o755);
      }
      const askpass = fixture.path('askpass');
      const prompts = { GIT_ASKPASS: askpass, SSH_ASKPASS: askpass, DISPLAY: ':0', GIT_TERMINAL_PROMPT: '1' };
      const config = configured(`[core]\n\taskPass = ${askpass}\n`);
      await expectError('auth_failed', () => see(plain.url(remote), { ...prompts, ...config }));
      expect(existsSync(asked)).toBe(false);
      const spy = configured(`[credential]\n\thelper = ${fixture.path('spy')}\n`);
      await expectError('auth_failed', () => see(plain.url(remote), { ...spy, GIT_MESH_TOKEN: 'hunter2' }));
      expect(readFileSync(fixture.path('spy.env'), 'utf8')).not.toContain('hunter2');
    });

    it('are done without where git is missing', async () => {
      plain.login = { username: 'x-access-token', password: 'hunter2' };
      const PATH = fixture.path('empty');
      await expectError('auth_failed', () => see(plain.url(remote), { PATH }));
      await see(plain.url(remote), { PATH, GIT_MESH_TOKEN: 'hunter2' });
    });

    it.skipIf(!posix)('that take too long to be found end with the signal, and leave no process', async () => {
      plain.login = { username: 'bob', password: 'hunter2' };
      writeFileSync(fixture.path('slow'), `#!/bin/sh\nsleep 600 & echo $! > ${fixture.path('pid')}; wait\n`);
      chmodSync(fixture.path('slow'), 0o755);
      const config = configured(`[credential]\n\thelper = ${fixture.path('slow')}\n`);
      const abort = new AbortController();
      const transport = httpTransport({ url: plain.url(remote), env: { ...env, ...config } });
      const opened = transport.open('git-upload-pack', { signal: abort.signal });
      await expect
        .poll(() => (existsSync(fixture.path('pid')) ? readFileSync(fixture.path('pid'), 'utf8') : ''), {
          timeout: 10_000,
        })
        .toMatch(/\d\n/);
      abort.abort();
      await expectError('deadline', () => opened);
      const { spawnSync } = await import('node:child_process');
      const pid = readFileSync(fixture.path('pid'), 'utf8').trim();
      // Killed, it may stay a zombie where nobody reaps orphans.
      await expect.poll(() => spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString().trim()).toMatch(/^(Z|$)/);
    });
  });

  describe('TLS', () => {
    it('refuses a server that nobody known vouches for, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
      try {
        const { message } = await expectError('unreachable', () => see(secure.url(remote), { GIT_SSL_CAINFO: '' }));
        expect(message).toContain('GIT_SSL_CAINFO');
      } finally {
        delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      }
      expect(secure.seen).toEqual([]);
    });

    it("takes the authority of git's http.sslCAInfo, also one for this host alone, and of SSL_CERT_FILE", async () => {
      const none = { GIT_SSL_CAINFO: '' };
      await see(secure.url(remote), { ...none, ...configured(`[http]\n\tsslCAInfo = ${authority.caFile}\n`) });
      const host = `[http "https://127.0.0.1:${secure.port}"]\n\tsslCAInfo = ${authority.caFile}\n`;
      await see(secure.url(remote), { ...none, ...configured(host) });
      await see(secure.url(remote), { ...none, SSL_CERT_FILE: authority.caFile });
    });

    it('refuses a certificate of another name', async () => {
      const { message } = await expectError('unreachable', () =>
        see(secure.url(remote).replace('127.0.0.1', '127.0.0.2')),
      );
      expect(message).toMatch(/ALTNAME|ECONNREFUSED/);
    });

    it('is never left out, and says so', async () => {
      const { message } = await expectError('invalid_argument', () =>
        see(secure.url(remote), { GIT_SSL_NO_VERIFY: '1' }),
      );
      expect(message).toContain('GIT_SSL_CAINFO');
      await expectError('unreachable', () =>
        see(secure.url(remote), { GIT_SSL_CAINFO: '', ...configured('[http]\n\tsslVerify = false\n') }),
      );
    });

    it('says which setting names a file that is none', async () => {
      writeFileSync(fixture.path('empty.pem'), 'nothing');
      for (const file of [fixture.path('missing'), fixture.path('empty.pem')]) {
        const { message } = await expectError('invalid_argument', () =>
          see(secure.url(remote), { GIT_SSL_CAINFO: file }),
        );
        expect(message).toContain('GIT_SSL_CAINFO');
        expect(message).not.toContain(fixture.root);
      }
    });

    it('says so where the other side does not speak it', async () => {
      await expectError('unreachable', () => see(plain.url(remote).replace('http:', 'https:')));
    });
  });

  describe('a proxy', () => {
    let proxy: ProxyServer;
    beforeEach(async () => {
      proxy = await ProxyServer.start();
    });
    afterEach(async () => {
      await proxy.close();
    });

    it.each(['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])(
      'of %s carries TLS to the remote, once an exchange',
      async (name) => {
        const tip = fixture.commit(remote, 'one');
        fixture.setRef(remote, main, tip);
        const transport = httpTransport({ url: secure.url(remote), env: { ...env, [name]: proxy.url() } });
        const exchange = await transport.open('git-upload-pack', { signal });
        await fetchPack(exchange, { wants: [tip], haves: [], signal, maxBytes: 1 << 20 });
        expect(proxy.seen).toEqual([`CONNECT 127.0.0.1:${secure.port}`]);
        await expect.poll(() => proxy.tunnels).toBe(0);
      },
    );

    it.each(['HTTP_PROXY', 'http_proxy', 'all_proxy'])(
      'of %s is asked for the whole URL of a plain remote',
      async (name) => {
        plain.login = { username: 'x-access-token', password: 'hunter2' };
        await see(plain.url(remote), { [name]: proxy.url(), GIT_MESH_TOKEN: 'hunter2' });
        const url = `${plain.url(remote)}/info/refs?service=git-upload-pack`;
        expect(proxy.seen).toEqual([`GET ${url}`, `GET ${url}`]);
      },
    );

    it('verifies the remote all the same', async () => {
      await expectError('unreachable', () => see(secure.url(remote), { HTTPS_PROXY: proxy.url(), GIT_SSL_CAINFO: '' }));
      expect(proxy.seen).toHaveLength(1);
    });

    it('is passed by for the hosts of NO_PROXY', async () => {
      await see(secure.url(remote), { HTTPS_PROXY: proxy.url(), NO_PROXY: 'x.org,127.0.0.1' });
      expect(proxy.seen).toEqual([]);
    });

    it('gets its own credentials, and the remote does not', async () => {
      proxy.authorization = `Basic ${Buffer.from('carol:s3cret').toString('base64')}`;
      for (const [server, name] of [
        [secure, 'HTTPS_PROXY'],
        [plain, 'HTTP_PROXY'],
      ] as const) {
        await see(server.url(remote), { [name]: proxy.url('carol:s3cret') });
        expect(JSON.stringify(server.seen)).not.toContain('proxy-authorization');
        const { message } = await expectError('auth_failed', () =>
          see(server.url(remote), { [name]: proxy.url('carol:wr0ng') }),
        );
        expect(message).toContain('407');
        expect(message).not.toContain('wr0ng');
      }
    });

    it('that lets nobody through, or is not there, is named', async () => {
      proxy.connectStatus = 403;
      const refused = await expectError('unreachable', () =>
        see(secure.url(remote), { HTTPS_PROXY: proxy.url('carol:s3cret') }),
      );
      expect(refused.message).toContain('the proxy 127.0.0.1');
      expect(refused.message).not.toContain('s3cret');
      const url = proxy.url();
      await proxy.close();
      for (const [server, name] of [
        [secure, 'HTTPS_PROXY'],
        [plain, 'HTTP_PROXY'],
      ] as const) {
        const { message } = await expectError('unreachable', () => see(server.url(remote), { [name]: url }));
        expect(message).toContain('proxy 127.0.0.1');
      }
    });
  });
});
