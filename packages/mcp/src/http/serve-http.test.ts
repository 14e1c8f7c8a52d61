import { MeshError, silentLogger, type CallOptions } from '@git-mesh/core';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import * as samples from '../testing/samples.js';
import { stubSetup } from '../testing/stub-setup.js';
import { watchedMesh, type WatchedMesh } from '../testing/watched-mesh.js';
import { serveHttp } from './serve-http.js';

const token = 'a-token-of-some-length';
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(watched: WatchedMesh = watchedMesh(), now = Date.now) {
  let opened = 0;
  const serving = await serveHttp({
    dir: '/secret/store',
    env: {},
    logger: silentLogger,
    hostname: 'here',
    setup: stubSetup(),
    version: '1',
    platform: 'linux',
    port: 0,
    token,
    now,
    openMesh: () => {
      opened += 1;
      return Promise.resolve(watched.mesh);
    },
  });
  ends.push(() => serving.close());
  const connect = async (): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(serving.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    ends.push(() => client.close());
    await client.connect(transport);
    return { client, transport };
  };
  return { serving, connect, opened: () => opened, ...watched };
}

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: `Bearer ${token}`,
};
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

async function post(url: string, body: string, more: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
  return { status: response.status, text: await response.text(), session: response.headers.get('mcp-session-id') };
}

/** As fetch cannot: with a Host of the test's choice. */
const statusWithHost = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers: { ...headers, host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on('error', reject);
    asking.end(initialize);
  });

describe('the server over HTTP', () => {
  it('serves several clients over one mesh, each with its own agents', async () => {
    const seen: [string, string[]][] = [];
    const watched = watchedMesh({
      checkin: (input, { connection }: CallOptions) => {
        connection.agents.add((input as { agent_id: string }).agent_id);
        return Promise.resolve(samples.checkinDone);
      },
      send: (input, { connection }: CallOptions) => {
        seen.push([(input as { to: string }).to, [...connection.agents]]);
        return Promise.resolve(samples.sendResult);
      },
    });
    const { connect, opened } = await serve(watched);
    const [one, two] = await Promise.all([connect(), connect()]);
    await Promise.all([one.client.listTools(), two.client.listTools()]);
    expect(opened()).toBe(0);
    await one.client.callTool({ name: 'agent_checkin', arguments: { agent_id: 'one', confirm: true } });
    await two.client.callTool({ name: 'agent_checkin', arguments: { agent_id: 'two', confirm: true } });
    await one.client.callTool({ name: 'agent_send', arguments: { to: 'a', msg_type: 'note' } });
    await two.client.callTool({ name: 'agent_send', arguments: { to: 'b', msg_type: 'note' } });
    expect(seen).toEqual([
      ['a', ['one']],
      ['b', ['two']],
    ]);
    expect(opened()).toBe(1);
    expect(one.transport.sessionId).not.toBe(two.transport.sessionId);
  });

  it('notifies the client that subscribed, and no other', async () => {
    const { connect, serving, inboxes, change, watching } = await serve();
    const heard: string[] = [];
    const [one, two] = await Promise.all([connect(), connect()]);
    for (const [name, { client }] of Object.entries({ one, two })) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        heard.push(`${name} ${params.uri}`);
      });
    }
    await one.client.subscribeResource({ uri: 'mesh://inbox/qa' });
    // The client opens its stream when it likes: what changes before reaches nobody.
    let n = 0;
    const arrive = (): number => {
      inboxes.set('qa', [{ n: (n += 1), expiresAt: Date.now() + 1e6 }]);
      change();
      return heard.length;
    };
    await expect.poll(arrive).toBeGreaterThan(0);
    expect(new Set(heard)).toEqual(new Set(['one mesh://inbox/qa']));
    const { sessionId = '' } = one.transport;
    await one.transport.terminateSession();
    await expect.poll(watching).toBe(0);
    expect((await post(serving.url, initialize, { 'mcp-session-id': sessionId })).status).toBe(404);
    expect((await two.client.listTools()).tools.length).toBeGreaterThan(5);
  });

  it('cancels a wait that its client gives up, and tells its progress', async () => {
    let signal: AbortSignal | undefined;
    const inbox = (_input: unknown, call: CallOptions): Promise<never> => {
      signal = call.signal;
      call.onProgress?.(5);
      return new Promise((_resolve, reject) => {
        call.signal?.addEventListener('abort', () => {
          reject(new MeshError('cancelled', 'given up'));
        });
      });
    };
    const { connect } = await serve(watchedMesh({ inbox }));
    const { client } = await connect();
    const heard: number[] = [];
    const giveUp = new AbortController();
    const waiting = client.callTool({ name: 'agent_inbox', arguments: {} }, undefined, {
      signal: giveUp.signal,
      onprogress: ({ progress }) => heard.push(progress),
    });
    const ended = expect(waiting).rejects.toThrow();
    await expect.poll(() => heard).toEqual([5]);
    expect(signal?.aborted).toBe(false);
    giveUp.abort('enough');
    await ended;
    await expect.poll(() => signal?.aborted).toBe(true);
  });

  it('ends waits, streams and the mesh as it closes', async () => {
    const inbox = (_input: unknown, { signal }: CallOptions): Promise<typeof samples.inboxResult> =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => {
          resolve(samples.inboxResult);
        });
      });
    const { connect, serving, mesh } = await serve(watchedMesh({ inbox }));
    const { client } = await connect();
    const waiting = client.callTool({ name: 'agent_inbox', arguments: { agent_id: 'qa', wait_seconds: 45 } });
    await expect.poll(() => mesh.log.some(({ name }) => name === 'inbox')).toBe(true);
    await serving.endCalls();
    expect((await waiting).structuredContent).toMatchObject({ agent_id: samples.inboxResult.agent_id });
    await serving.close();
    expect(mesh.log.at(-1)?.name).toBe('close');
    await expect(fetch(serving.url)).rejects.toThrow();
  });

  it('refuses who may not ask, before anything else', async () => {
    const { serving, opened } = await serve();
    const { port } = new URL(serving.url);
    expect((await post(serving.url, initialize, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await post(serving.url, initialize, { origin: 'http://evil.example' })).status).toBe(403);
    expect(await statusWithHost(serving.url, `evil.example:${port}`)).toBe(403);
    expect(await statusWithHost(serving.url, `localhost:${port}`)).toBe(200);
    expect((await fetch(serving.url.replace('/mcp', '/'), { headers })).status).toBe(404);
    expect((await fetch(serving.url, { method: 'PUT', headers })).status).toBe(405);
    expect(opened()).toBe(0);
  });

  it('answers what it cannot read, plainly, and works on', async () => {
    const { serving } = await serve();
    const { session } = await post(serving.url, initialize);
    const own = { 'mcp-session-id': session ?? '' };
    const call = (params: string): string => `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`;
    const answers: [string, Record<string, string>, number, string][] = [
      ['{', own, 400, '-32700'],
      ['[]', own, 400, 'batches'],
      [call('{}'), own, 200, '-32602'],
      [call('{"name":"agent_fly"}'), own, 200, 'unknown tool'],
      [call('{"name":"agent_send","arguments":{"payload":{"n":9007199254740993}}}'), own, 200, 'would arrive as'],
      [call('{"name":"agents_list"}'), {}, 400, 'begins with initialize'],
      [call('{"name":"agents_list"}'), { 'mcp-session-id': 'x' }, 404, 'no such session'],
      [initialize, { accept: 'text/html' }, 406, 'Not Acceptable'],
      [`"${'x'.repeat(1 << 20)}"`, own, 413, '1048576 bytes'],
      [call('{"name":"agents_list"}'), own, 200, 'structuredContent'],
    ];
    for (const [body, more, status, part] of answers) {
      const answer = await post(serving.url, body, more);
      expect([body.slice(0, 90), answer.status]).toEqual([body.slice(0, 90), status]);
      expect(answer.text).toContain(part);
      expect(answer.text).not.toMatch(/\/secret| {4}at /);
    }
  });

  it('has room for so many clients, and says so to the next', async () => {
    const { serving } = await serve();
    const statuses = await Promise.all(
      Array.from({ length: 66 }, async () => (await post(serving.url, initialize)).status),
    );
    expect([statuses.filter((status) => status === 200).length, new Set(statuses)]).toEqual([64, new Set([200, 503])]);
    expect((await post(serving.url, initialize)).text).toContain(
      '30 s after one closed its stream, and 10 minutes after',
    );
  });

  it('takes the place of a client that closed its stream, though it never ended its session', async () => {
    const time = { now: 0 };
    const { serving } = await serve(watchedMesh(), () => time.now);
    const made = await Promise.all(Array.from({ length: 64 }, () => post(serving.url, initialize)));
    const [first, second] = made.map(({ session }) => session ?? '');
    const close = new AbortController();
    const listen = (session = '', signal?: AbortSignal) =>
      fetch(serving.url, { headers: { ...headers, 'mcp-session-id': session }, ...(signal === undefined ? {} : { signal }) }); // prettier-ignore
    await listen(first, close.signal);
    await listen(second);
    expect((await post(serving.url, initialize)).status).toBe(503);
    close.abort();
    // The server hears of it soon; what only thinks has ten minutes.
    const next = async (): Promise<number> => {
      time.now += 31_000;
      return (await post(serving.url, initialize)).status;
    };
    await expect.poll(next).toBe(200);
    expect((await listen(first)).status).toBe(404);
    expect(await next()).toBe(503);
  });

  it('says where the port is taken', async () => {
    const { serving } = await serve();
    const again = serveHttp({
      dir: '/s',
      env: {},
      logger: silentLogger,
      hostname: 'here',
      setup: stubSetup(),
      version: '1',
      platform: 'linux',
      port: Number(new URL(serving.url).port),
      token,
      openMesh: () => Promise.reject(new Error('not opened')),
    });
    await expect(again).rejects.toMatchObject({ errorName: 'conflict', message: expect.stringContaining('another program') as string }); // prettier-ignore
  });
});
