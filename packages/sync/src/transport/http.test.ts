import { randomBytes } from 'node:crypto';
import type * as http from 'node:http';
import type { RefName } from '@git-mesh/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GitFixture } from '../testing/git-fixture.js';
import { HttpGitServer } from '../testing/http-git-server.js';
import { expectError, transportContract } from './contract.suite.js';
import { fetchPack } from './fetch.js';
import { httpTransport, readableByEveryone } from './http.js';
import { pushRefs } from './push.js';

let server: HttpGitServer;
let hanging: HttpGitServer;
const serving = new GitFixture();
const { signal } = new AbortController();
const main = 'refs/heads/main' as RefName;
const maxBytes = 1 << 24;

beforeAll(async () => {
  server = await HttpGitServer.start({ root: '/', env: serving.env });
  hanging = await HttpGitServer.start({ root: '/', env: serving.env });
  hanging.before = () => true;
});
afterAll(async () => {
  await server.close();
  await hanging.close();
  serving.remove();
});

transportContract('http', (fixture) => ({
  reach: (path) => httpTransport({ url: server.url(path), env: fixture.env }),
  reachHanging: (path) => httpTransport({ url: hanging.url(path), env: fixture.env }),
  // git http-backend answers both with 404.
  noRepository: 'remote_not_found',
}));

describe('httpTransport', () => {
  let fixture: GitFixture;
  let remote: string;
  const asIs = {
    before: () => false,
    through: (chunk: Buffer, response: http.ServerResponse) => void response.write(chunk),
  };
  beforeEach(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
    Object.assign(server, asIs, { login: null });
    server.seen.length = 0;
  });
  afterEach(() => {
    fixture.remove();
  });
  const reach = (options: { url?: string; idleMs?: number } = {}) =>
    httpTransport({ url: server.url(remote), env: fixture.env, ...options });
  const open = (options: { url?: string; idleMs?: number } = {}) => reach(options).open('git-upload-pack', { signal });
  const answer = (status: number, headers: http.OutgoingHttpHeaders, body = ''): void => {
    server.before = (request, response) => {
      request.resume();
      response.writeHead(status, headers).end(body);
      return true;
    };
  };
  const onPost = (act: (request: http.IncomingMessage, response: http.ServerResponse) => boolean): void => {
    server.before = (request, response) => request.method === 'POST' && act(request, response);
  };
  const everything = (url = server.url(remote), options: { idleMs?: number } = {}) => {
    const tip = fixture.commit(remote, randomBytes(400_000).toString('base64'));
    fixture.setRef(remote, main, tip);
    return open({ url, ...options }).then((exchange) =>
      fetchPack(exchange, { wants: [tip], haves: [], signal, maxBytes }),
    );
  };

  it('asks once, says to be git, and posts on the same connection, which is gone with the exchange', async () => {
    await everything();
    const [first, second] = server.seen;
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'POST']);
    expect(first?.url).toContain('/info/refs?service=git-upload-pack');
    expect(first?.headers['user-agent']).toMatch(/^git\/.*git-mesh/);
    expect(first?.headers['git-protocol']).toBeUndefined();
    expect(second?.from).toBe(first?.from);
    const exchange = await open();
    expect(await server.connections()).toBe(1);
    await exchange.close();
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('compresses a large request, and sends a small one as it is', async () => {
    const tip = fixture.commit(remote, 'one');
    fixture.setRef(remote, main, tip);
    const haves = Array.from({ length: 1_000 }, () => tip.replace(/^.{8}/, randomBytes(4).toString('hex')));
    await fetchPack(await open(), { wants: [tip], haves: haves as (typeof tip)[], signal, maxBytes });
    await fetchPack(await open(), { wants: [tip], haves: [], signal, maxBytes });
    const posts = server.seen.filter(({ method }) => method === 'POST');
    expect(posts.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', undefined]);
    expect(Number(posts[0]?.headers['content-length'])).toBeLessThan(30_000);
  });

  it('reads a compressed answer', async () => {
    const { gzipSync } = await import('node:zlib');
    const lines = '001e# service=git-upload-pack\n0000' + '0000';
    server.before = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/x-git-upload-pack-advertisement',
        'content-encoding': 'gzip',
      });
      response.end(gzipSync(lines));
      return true;
    };
    const exchange = await open();
    expect(exchange.advertised.refs.size).toBe(0);
    await exchange.close();
  });

  it('pushes a request that comes in pieces, and fails with what the pieces failed with', async () => {
    const tip = fixture.commit(remote, 'one');
    fixture.setRef(remote, main, tip);
    async function* half(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('0032'));
      throw new RangeError('out of numbers');
    }
    const exchange = await open();
    await expect(exchange.post(half())[Symbol.asyncIterator]().next()).rejects.toThrow('out of numbers');
    async function* whole(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from(`0032want ${tip}\n`));
      yield Buffer.from('00000009done\n');
    }
    let bytes = 0;
    for await (const chunk of (await open()).post(whole())) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(40);
  });

  it.each([
    [404, {}, 'remote_not_found', 'with and without .git'],
    [410, {}, 'remote_not_found', '410'],
    [403, { 'content-type': 'text/plain' }, 'auth_failed', 'the words'],
    [429, { 'retry-after': '7' }, 'unreachable', 'asks to wait 7 s'],
    [500, {}, 'unreachable', '500'],
    [503, { 'retry-after': '3', 'content-type': 'text/plain' }, 'unreachable', 'the words'],
    [400, {}, 'protocol_error', '400'],
    [204, {}, 'protocol_error', '204'],
    [413, {}, 'payload_too_large', '413'],
    [401, {}, 'auth_failed', 'GIT_MESH_TOKEN'],
    [401, { 'www-authenticate': 'Negotiate' }, 'auth_failed', 'Negotiate'],
  ] as const)('tells status %i %o as %s', async (status, headers, name, words) => {
    answer(status, headers, 'the words');
    const error = await expectError(name, () => open());
    expect(error.message).toContain(words);
    expect(error.data['http_status']).toBe(status);
    const retryAfter = 'retry-after' in headers ? Number(headers['retry-after']) * 1000 : undefined;
    expect(error.data['retry_after_ms']).toBe(retryAfter);
  });

  it('takes 403 for a refused push where we push', async () => {
    answer(403, { 'content-type': 'text/plain' }, 'Write access not granted.');
    const opened = reach().open('git-receive-pack', { signal });
    expect((await expectError('push_refused', () => opened)).message).toContain('Write access not granted.');
  });

  it('reads a date in Retry-After', async () => {
    answer(429, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    const error = await expectError('unreachable', () => open());
    expect(error.data['retry_after_ms']).toBeGreaterThan(50_000);
    expect(error.data['retry_after_ms']).toBeLessThanOrEqual(60_000);
  });

  it.each([
    ['a login page', 'text/html; charset=utf-8', '<html>Log in</html>', 'a login page'],
    ['a dumb server', 'text/plain', `${'0'.repeat(40)}\trefs/heads/main\n`, 'dumb'],
    ['another service', 'application/x-git-receive-pack-advertisement', '0000', 'expected a git server'],
    ['an empty answer', 'application/x-git-upload-pack-advertisement', '', 'empty answer'],
    ['no service line', 'application/x-git-upload-pack-advertisement', '0000', '# service='],
    ['rubbish', 'application/x-git-upload-pack-advertisement', 'hello, this is no git', 'no valid length'],
    ['a cut list', 'application/x-git-upload-pack-advertisement', '001e# service=git-upload-pack\n0000003f00', 'cut'],
    [
      'an error in words',
      'application/x-git-upload-pack-advertisement',
      '001e# service=git-upload-pack\n00000012ERR no way in0000',
      'no way in',
    ],
  ])('takes %s for no repository, and never for an empty one', async (_what, type, body, words) => {
    answer(200, { 'content-type': type }, body);
    expect((await expectError('protocol_error', () => open())).message).toContain(words);
  });

  it('says what it met where the other side speaks no http', async () => {
    const net = await import('node:net');
    const raw = net.createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('SSH-2.0-OpenSSH_9.2\r\n'),
    );
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    const { port } = raw.address() as { port: number };
    await expectError('protocol_error', () => open({ url: `http://127.0.0.1:${port}/x` }));
    await new Promise((resolve) => raw.close(resolve));
    const refused = await expectError('unreachable', () => open({ url: `http://127.0.0.1:${port}/x` }));
    expect(refused.message).toContain('ECONNREFUSED');
    const nowhere = await expectError('unreachable', () => open({ url: 'http://host.invalid/x' }));
    expect(nowhere.message).toContain('no address');
  });

  it('follows a redirect on the same host for the whole exchange', async () => {
    server.before = (request, response) => {
      const url = request.url ?? '';
      if (!url.startsWith('/old/')) return false;
      response.writeHead(301, { location: url.replace('/old/', '/') }).end('moved');
      return true;
    };
    await everything(server.url(`/old${remote}`));
    expect(server.seen.map(({ method, url }) => `${method} ${url.split('?')[0] ?? ''}`)).toEqual([
      `GET /old${remote}/info/refs`,
      `GET ${remote}/info/refs`,
      `POST ${remote}/git-upload-pack`,
    ]);
  });

  it.each([
    ['another host', 'http://localhost:1/x/info/refs?service=git-upload-pack', 'another host'],
    ['another port', 'http://127.0.0.1:1/x/info/refs?service=git-upload-pack', 'another host'],
    ['a login page', '/login?next=/x', 'login page'],
    ['nowhere', undefined, 'nowhere'],
    ['a URL with somebody in it', 'http://bob:hunter2@other.invalid/info/refs?service=git-upload-pack', 'another host'],
  ])('does not follow a redirect to %s', async (_where, location, words) => {
    answer(302, location === undefined ? {} : { location });
    const { message } = await expectError('protocol_error', () => open());
    expect(message).toContain(words);
    expect(message).not.toContain('hunter2');
    expect(server.seen).toHaveLength(1);
  });

  it('gives up on redirects that never end', async () => {
    server.before = (request, response) => {
      response.writeHead(302, { location: `/again${request.url ?? ''}` }).end();
      return true;
    };
    await expectError('protocol_error', () => open());
    expect(server.seen).toHaveLength(6);
  });

  it('does not follow a redirected push', async () => {
    onPost((request, response) => {
      request.resume();
      response.writeHead(307, { location: '/elsewhere' }).end();
      return true;
    });
    const tip = fixture.commit(fixture.bare('mine.git'), 'one');
    const exchange = await reach().open('git-receive-pack', { signal });
    const options = { updates: [{ ref: main, expected: null, next: tip }], pack: null, atomic: false, signal };
    await expectError('protocol_error', () => pushRefs(exchange, options));
  });

  it.each([0, 1, 20, 5_000, 200_000])('takes a pack that is cut after %i bytes for no pack', async (bytes) => {
    let left = bytes;
    onPost(() => {
      server.through = (chunk, response) => {
        const part = chunk.subarray(0, left);
        left -= part.length;
        response.write(part, () => {
          if (left === 0) response.socket?.destroy();
        });
      };
      return false;
    });
    await expectError('unreachable', () => everything());
  });

  it.each([0, 20, 5_000])(
    'takes a pack whose answer ends early, but politely, for no pack: %i bytes',
    async (bytes) => {
      let left = bytes;
      onPost(() => {
        server.through = (chunk, response) => {
          const part = chunk.subarray(0, left);
          left -= part.length;
          response.write(part);
        };
        return false;
      });
      await expectError('protocol_error', () => everything());
    },
  );

  it('tells a server that fails in the request', async () => {
    onPost((request, response) => {
      request.resume();
      response.writeHead(502, { 'content-type': 'text/plain' }).end('no upstream');
      return true;
    });
    expect((await expectError('unreachable', () => everything())).message).toContain('no upstream');
  });

  it('gives up a server that goes quiet, and names the step', async () => {
    const silent = httpTransport({ url: hanging.url(remote), env: fixture.env, idleMs: 150 });
    const first = await expectError('deadline', () => silent.open('git-upload-pack', { signal }));
    expect(first.message).toContain('quiet');
    expect(first.message).toContain('working on the request');
    onPost((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      response.write('0008NAK\n');
      return true;
    });
    const second = await expectError('deadline', () => everything(server.url(remote), { idleMs: 1_000 }));
    expect(second.message).toContain('sending its answer');
    await expect.poll(() => hanging.connections()).toBe(0);
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('lets a slow server take its time as long as it shows that it lives', async () => {
    onPost(() => {
      server.through = (chunk, response) => {
        response.socket?.setNoDelay(true);
        for (let at = 0; at < chunk.length; at += 8_192) response.write(chunk.subarray(at, at + 8_192));
      };
      return false;
    });
    expect((await everything(server.url(remote), { idleMs: 5_000 })).length).toBeGreaterThan(300_000);
  });

  it('ends at once when the signal fires in the middle of an answer, with no connection left', async () => {
    const abort = new AbortController();
    onPost((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      response.write('0008NAK\n', () => {
        abort.abort();
      });
      return true;
    });
    const tip = fixture.commit(remote, 'one');
    fixture.setRef(remote, main, tip);
    const exchange = await reach().open('git-upload-pack', { signal: abort.signal });
    await expectError('deadline', () =>
      fetchPack(exchange, { wants: [tip], haves: [], signal: abort.signal, maxBytes }),
    );
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('knows whether everybody may read', async () => {
    const env = { ...fixture.env, GIT_MESH_TOKEN: 'hunter2' };
    expect(await readableByEveryone(server.url(remote), { env, signal })).toBe(true);
    server.login = { username: 'x-access-token', password: 'hunter2' };
    expect(await readableByEveryone(server.url(remote), { env, signal })).toBe(false);
    expect(await readableByEveryone(server.url(remote, 'x-access-token:hunter2'), { env, signal })).toBe(false);
    server.login = null;
    expect(await readableByEveryone(server.url(fixture.path('nowhere')), { env, signal })).toBe(false);
    expect(server.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    answer(503, {});
    await expectError('unreachable', () => readableByEveryone(server.url(remote), { env, signal }));
  });
});
