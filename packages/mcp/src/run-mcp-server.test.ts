import { silentLogger } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runMcpServer } from './run-mcp-server.js';
import * as samples from './testing/samples.js';
import { stubSetup } from './testing/stub-setup.js';
import { stubMesh } from './testing/stub-mesh.js';

/** A server between pipes, whose process is played by the test. */
function start(mesh: OpenMesh = stubMesh(), stdout: Writable = new PassThrough()) {
  const stdin = new PassThrough();
  const host = { opened: 0, claimed: 0, exitWithin: [] as number[], signal: (_name: string): void => undefined };
  let output = '';
  stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const done = runMcpServer({
    dir: '/nowhere',
    env: {},
    logger: silentLogger,
    stdin,
    stdout,
    version: '1.2.3',
    hostname: 'here',
    setup: stubSetup(),
    openMesh: () => {
      host.opened += 1;
      return Promise.resolve(mesh);
    },
    host: {
      platform: 'linux',
      claimStdout: (stream) => {
        host.claimed += 1;
        return stream;
      },
      onSignal: (listener) => {
        host.signal = listener;
        return () => undefined;
      },
      exitWithin: (ms) => {
        host.exitWithin.push(ms);
      },
    },
  });
  const messages = () =>
    output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { id: number; result?: Record<string, unknown> });
  const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const initialize = () =>
    say({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
  return { stdin, stdout, host, done, messages, say, initialize };
}

describe('runMcpServer', () => {
  it('lists the tools and ends with stdin, having opened nothing', async () => {
    const { stdin, host, done, messages, say, initialize } = start();
    initialize();
    say({ method: 'notifications/initialized' });
    say({ id: 2, method: 'tools/list' });
    stdin.end();
    await done;
    expect(messages().map(({ id }) => id)).toEqual([1, 2]);
    expect(host).toMatchObject({ opened: 0, claimed: 1, exitWithin: [2000] });
  });

  it('answers the calls under way before it ends, and closes the mesh', async () => {
    const mesh = stubMesh();
    const { stdin, done, messages, say, initialize } = start(mesh);
    initialize();
    say({ id: 2, method: 'tools/call', params: { name: 'agents_list' } });
    stdin.end();
    await done;
    expect(messages().at(-1)).toMatchObject({ id: 2, result: { structuredContent: { machine: 'laptop' } } });
    expect(mesh.log.map(({ name }) => name)).toEqual(['startWorker', 'agents', 'close']);
  });

  const endings: [string, (server: ReturnType<typeof start>) => void][] = [
    ['stdin ends', ({ stdin }) => stdin.end()],
    ['stdin is closed', ({ stdin }) => stdin.destroy()],
    ['stdin fails', ({ stdin }) => stdin.destroy(new Error('EIO'))],
    [
      'nobody reads stdout any more',
      ({ stdout }) => stdout.destroy(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })),
    ],
    [
      'the process is told to end',
      ({ host }) => {
        host.signal('SIGTERM');
      },
    ],
  ];
  it.each(endings)('ends a wait and closes the mesh when %s', async (_name, end) => {
    let waits = false;
    const mesh = stubMesh({
      inbox: (_args, { signal }) =>
        new Promise((resolve) => {
          waits = true;
          signal?.addEventListener('abort', () => {
            resolve(samples.inboxResult);
          });
        }),
    });
    const server = start(mesh);
    server.initialize();
    server.say({ id: 2, method: 'tools/call', params: { name: 'agent_inbox', arguments: { wait_seconds: 45 } } });
    await expect.poll(() => waits).toBe(true);
    const began = performance.now();
    end(server);
    await server.done;
    expect(performance.now() - began).toBeLessThan(900);
    expect(mesh.log.at(-1)?.name).toBe('close');
    expect(server.host.exitWithin).toEqual([2000]);
  });

  it('does not wait long for a call that will not end', async () => {
    let called = false;
    const mesh = stubMesh({
      sent: () => {
        called = true;
        return new Promise(() => undefined);
      },
    });
    const { stdin, done, say, initialize } = start(mesh);
    initialize();
    say({ id: 2, method: 'tools/call', params: { name: 'agent_sent' } });
    await expect.poll(() => called).toBe(true);
    stdin.end();
    await done;
    expect(mesh.log.at(-1)?.name).toBe('close');
  });
});
