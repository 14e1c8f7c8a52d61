import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import type { Logger, MembershipResult } from '@git-mesh/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OpenMesh } from './contract.js';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { openMesh } from './open.js';
import type { TestAuthority } from './testing/certificate.js';
import { makeAuthority } from './testing/certificate.js';
import { GitFixture } from './testing/git-fixture.js';
import { HttpGitServer } from './testing/http-git-server.js';

const secret = 'hunter2-of-the-mesh';
const encoded = Buffer.from(`bob:${secret}`).toString('base64');

describe('a mesh over https', () => {
  let fixture: GitFixture;
  let authority: TestAuthority;
  let server: HttpGitServer;
  let env: Record<string, string>;
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const logger: Logger = { debug: say, info: say, warn: say };
  const open: OpenMesh[] = [];

  beforeAll(async () => {
    fixture = new GitFixture();
    authority = makeAuthority(fixture.root);
    server = await HttpGitServer.start({ root: fixture.root, env: fixture.env, tls: authority.tls });
    server.login = { username: 'bob', password: secret };
    env = { ...fixture.env, GIT_SSL_CAINFO: authority.caFile, GIT_MESH_TOKEN: secret, GIT_MESH_USERNAME: 'bob' };
  });
  afterEach(async () => {
    server.before = () => false;
    for (const mesh of open.splice(0)) await mesh.close();
  });
  afterAll(async () => {
    await server.close();
    fixture.remove();
  });

  const options = (machine: string) => {
    const dir = fixture.path('machines', machine);
    return { machine, hostname: machine, dir, env, logger, onProgress: say };
  };
  const init = (machine: string, remote: string): Promise<MembershipResult> =>
    initMesh({ ...options(machine), remote });
  const join = (machine: string, url: string): Promise<MembershipResult> => joinMesh({ ...options(machine), url });
  const opened = async (machine: string): Promise<OpenMesh> => {
    const mesh = await openMesh(options(machine));
    open.push(mesh);
    return mesh;
  };
  /** Every file below the folder that holds one of the texts. */
  const filesWith = (folder: string, texts: readonly string[]): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => joinPath(folder, name))
      .filter((file) => statSync(file).isFile())
      .filter((file) => texts.some((text) => readFileSync(file).includes(text)));

  it('carries a message and its acknowledgement, and leaves the credential nowhere', async () => {
    fixture.bare('hub.git');
    const results: unknown[] = [
      await init('studio', server.url('hub.git')),
      await join('laptop', server.url('hub.git')),
    ];
    expect(results).toMatchObject([
      { machine: 'studio', writable: true },
      { machine: 'laptop', writable: true },
    ]);
    const [studio, laptop] = [await opened('studio'), await opened('laptop')];
    const [here, there] = [
      { connection: studio.newConnection({ resident: false }) },
      { connection: laptop.newConnection({ resident: false }) },
    ];
    results.push(await laptop.api.checkin({ agent_id: 'qa', confirm: true }, there), await laptop.syncNow());
    const round = await studio.syncNow();
    expect(round).toMatchObject({ state: 'ok', queued: 0, error: null });
    const sent = await studio.api.send({ to: 'laptop', msg_type: 'note', payload: { text: 'over https' } }, here);
    results.push(round, sent, await studio.syncNow(), await laptop.syncNow());
    const inbox = await laptop.api.inbox({ agent_id: 'qa' }, there);
    expect(inbox.messages[0]).toMatchObject({ id: sent.id, payload: { text: 'over https' } });

    // Refused for a while, by a server that repeats what it was given.
    server.before = (request, response) => {
      const { authorization } = request.headers;
      request.resume();
      if (authorization === undefined) return false;
      response.writeHead(403, { 'content-type': 'text/plain' });
      response.end(`no: ${authorization}, ${Buffer.from(authorization.slice(6), 'base64').toString()}`);
      return true;
    };
    const ids = [inbox.messages[0]?.message_id];
    results.push(inbox, await laptop.api.ack({ agent_id: 'qa', message_ids: ids, confirm: true }, there));
    const refused = await laptop.syncNow();
    expect(refused).toMatchObject({ state: 'offline', error: { name: 'auth_failed' } });
    expect(refused.queued).toBeGreaterThan(0);
    results.push(refused, await laptop.api.status(), await laptop.api.doctor());
    server.before = () => false;
    expect(await laptop.syncNow()).toMatchObject({ state: 'ok', queued: 0, error: null });
    results.push(await studio.syncNow());
    const outcome = await studio.api.sent({}, here);
    expect(outcome.messages[0]).toMatchObject({ id: sent.id, state: 'acked' });
    results.push(outcome, await studio.api.status());

    expect(said.some((line) => line.includes('403'))).toBe(true);
    for (const text of [secret, encoded]) {
      expect(JSON.stringify(results)).not.toContain(text);
      expect(said.join('\n')).not.toContain(text);
    }
    expect(filesWith(fixture.path('machines'), [secret, encoded])).toEqual([]);
    expect(filesWith(fixture.path('hub.git'), [secret, encoded])).toEqual([]);
    const messages = fixture.git(['-C', fixture.path('hub.git'), 'log', '--all', '-p', '--format=raw']);
    expect(messages).not.toContain(secret);
    expect(fixture.git(['-C', fixture.path('hub.git'), 'fsck', '--strict'])).toBe('');
  });

  it('can be told to be looked for: the search above finds what is there', () => {
    writeFileSync(fixture.path('leak'), `token=${secret}`);
    expect(filesWith(fixture.root, [secret])).toEqual([fixture.path('leak')]);
  });

  it('asks once where nothing changed', async () => {
    fixture.bare('idle.git');
    await init('idle', server.url('idle.git'));
    const mesh = await opened('idle');
    await mesh.syncNow();
    server.seen.length = 0;
    await mesh.syncNow();
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /idle.git/info/refs?service=git-upload-pack',
    ]);
  });

  it('polls with one small request, however many other branches there are, and sees what moves', async () => {
    const hub = fixture.bare('many.git');
    const commit = fixture.commit(hub, 'code');
    const lines = Array.from({ length: 500 }, (_, n) => `create refs/heads/topic/${n} ${commit}\n`);
    fixture.git(['-C', hub, 'update-ref', '--stdin'], lines.join(''));
    await init('poller', server.url('many.git'));
    await join('mover', server.url('many.git'));
    const [poller, mover] = [await opened('poller'), await opened('mover')];
    const call = { connection: poller.newConnection({ resident: false }) };
    await poller.api.checkin({ agent_id: 'dev', confirm: true }, call);
    await poller.syncNow();
    const poll = async (): Promise<string[]> => {
      server.seen.length = 0;
      await poller.syncer.round({ deadlineMs: 10_000 });
      return server.seen.map(({ method, url }) => `${method} ${url.replace('/many.git/', '')}`);
    };
    const look = 'POST git-upload-pack';
    const offer = 'GET info/refs?service=git-upload-pack';
    // What the server can do is asked for once.
    expect(await poll()).toEqual([offer, look]);
    let bytes = 0;
    server.through = (chunk, response) => {
      bytes += chunk.length;
      response.write(chunk);
    };
    expect(await poll()).toEqual([look]);
    expect(server.seen[0]?.headers['git-protocol']).toBe('version=2');
    // The charter and two machines; all of it would be some 30 KB.
    expect(bytes).toBeLessThan(1_000);
    await mover.api.send({ to: 'poller', msg_type: 'note', payload: { n: 1 } }, { connection: mover.newConnection({ resident: false }) }); // prettier-ignore
    await mover.syncNow();
    expect((await poll()).slice(0, 3)).toEqual([look, offer, look]);
    expect((await poller.api.inbox({ agent_id: 'dev' }, call)).messages).toMatchObject([{ payload: { n: 1 } }]);
    // Its receipt went out with that; from here on it has something to push.
    const [told, push] = ['GET info/refs?service=git-receive-pack', 'POST git-receive-pack'];
    expect(await poll()).toEqual([look]);
    const send = async (from: OpenMesh, to: string): Promise<unknown> =>
      from.api.send({ to, msg_type: 'note', payload: {} }, { connection: from.newConnection({ resident: false }) });
    await send(poller, 'mover');
    expect(await poll()).toEqual([told, push]);
    await send(poller, 'mover');
    await send(mover, 'poller');
    await mover.syncNow();
    expect(await poll()).toEqual([told, offer, look, push]);
    expect(await poll()).toEqual([look]);
    fixture.git(['-C', hub, 'update-ref', '-d', 'refs/heads/mesh/mover']);
    expect((await poll()).slice(0, 2)).toEqual([look, offer]);
    expect((await poller.api.status()).remotes).toMatchObject([{ state: 'ok', queued: 0 }]);
  });

  it('polls a server that does not speak protocol 2 as any git does', async () => {
    fixture.bare('old.git');
    await init('oldster', server.url('old.git'));
    const mesh = await opened('oldster');
    await mesh.syncNow();
    server.before = (request) => {
      delete request.headers['git-protocol'];
      return false;
    };
    const offer = 'GET /old.git/info/refs?service=git-upload-pack';
    for (const expected of [[offer, offer], [offer], [offer]]) {
      server.seen.length = 0;
      await mesh.syncer.round({ deadlineMs: 10_000 });
      expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(expected);
    }
    expect(await mesh.syncer.summary()).toMatchObject({ state: 'ok', error: null });
  });

  it('stores no URL with a password in it, and makes nothing', async () => {
    fixture.bare('kept.git');
    for (const attempt of [init, join]) {
      const failed = attempt('none', server.url('kept.git', `bob:${secret}`));
      await expect(failed).rejects.toMatchObject({ errorName: 'invalid_argument' });
      await expect(failed).rejects.not.toThrow(secret);
    }
    expect(existsSync(fixture.path('machines', 'none'))).toBe(false);
  });

  it('lets a machine that may only read join, and says so', async () => {
    fixture.bare('readonly.git');
    await init('founder', server.url('readonly.git'));
    server.before = (request, response) => {
      if (request.url?.includes('receive-pack') !== true) return false;
      request.resume();
      response.writeHead(403, { 'content-type': 'text/plain' }).end('This token is read only.\n');
      return true;
    };
    expect(await join('reader', server.url('readonly.git'))).toMatchObject({ writable: false });
    const reader = await opened('reader');
    await reader.syncNow();
    const { remotes } = await reader.api.status();
    expect(remotes).toMatchObject([{ error: { name: 'push_refused' } }]);
    expect(remotes[0]?.error?.message).toContain('This token is read only.');
  });

  it.each(['nowhere.git', 'machines'])('makes no store where %s is no repository', async (name) => {
    const failed = init('none', server.url(name));
    await expect(failed).rejects.toMatchObject({ errorName: 'remote_not_found' });
    expect(existsSync(fixture.path('machines', 'none'))).toBe(false);
  });
});
