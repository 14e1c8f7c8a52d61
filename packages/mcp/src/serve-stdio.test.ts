import { silentLogger } from '@git-mesh/core';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { serveStdio, type Serving } from './serve-stdio.js';
import { stubSetup } from './testing/stub-setup.js';
import { stubMesh, type StubMesh } from './testing/stub-mesh.js';

interface Answer {
  id: unknown;
  result?: { isError?: boolean; structuredContent?: Record<string, unknown> };
  error?: { code: number; message: string };
}

const open: Serving[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((serving) => serving.close()));
});

/** A server between pipes that are written to byte for byte. */
async function serve(mesh: StubMesh = stubMesh()) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let output = '';
  stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const openMesh = () => Promise.resolve(mesh);
  open.push(
    await serveStdio({
      dir: '/s',
      env: {},
      logger: silentLogger,
      openMesh,
      stdin,
      stdout,
      version: '1',
      platform: 'linux',
      hostname: 'here',
      setup: stubSetup(),
    }),
  );
  const all = (): Answer[] => {
    const lines = output.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Answer);
  };
  let pings = 0;
  /** What came in answer to these bytes, in order; that the server still works is part of it. */
  const answers = async (bytes: string | Buffer, count: number): Promise<Answer[]> => {
    const before = all().length;
    stdin.write(bytes);
    await expect.poll(() => all().length - before).toBeGreaterThanOrEqual(count);
    const ping = `ping ${(pings += 1)}`;
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ping, method: 'ping' })}\n`);
    await expect.poll(() => all().some(({ id }) => id === ping)).toBe(true);
    return all()
      .slice(before)
      .filter(({ id }) => id !== ping);
  };
  return { answers, all, mesh, write: (bytes: string | Buffer) => stdin.write(bytes) };
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const call = (params: unknown, id: unknown = 7): string => line({ id, method: 'tools/call', params });

describe('a line that cannot be read', () => {
  const unreadable: [name: string, bytes: string | Buffer, code: number, id: unknown, part: string][] = [
    ['is no JSON', 'hello\n', -32700, null, 'not JSON'],
    ['is cut short', '{"jsonrpc":"2.0","id":1,\n', -32700, null, 'not JSON'],
    ['is noise', Buffer.from([0xff, 0xfe, 0, 0x80, 0x0a]), -32700, null, 'not UTF-8'],
    ['has a text that is no UTF-8', Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}\n')]), -32700, null, 'not UTF-8'], // prettier-ignore
    ['is a batch', `[${line({ id: 1, method: 'ping' }).trim()}]\n`, -32600, null, 'batches'],
    ['is an empty batch', '[]\n', -32600, null, 'batches'],
    ['is no object', 'null\n', -32600, null, 'an object'],
    ['is another object', '{"a":1}\n', -32600, null, 'jsonrpc "2.0"'],
    ['is of another version', '{"jsonrpc":"1.0","id":3,"method":"ping"}\n', -32600, 3, 'jsonrpc "2.0"'],
    ['has an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, null, 'an id'],
    ['has an id that no number holds', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}\n', -32600, null, 'an id'],
    ['has a method that is no text', '{"jsonrpc":"2.0","id":4,"method":5}\n', -32600, 4, 'a method'],
    ['has more in it', '{"jsonrpc":"2.0","id":4,"method":"ping","x":1}\n', -32600, 4, 'nothing else'],
    ['has a list of params', line({ id: 5, method: 'tools/list', params: [] }), -32602, 5, 'an object, got a list'],
    ['has params of null', line({ id: 5, method: 'tools/list', params: null }), -32602, 5, 'an object, got null'],
    ['has a wrong cursor', line({ id: 5, method: 'tools/list', params: { cursor: 1 } }), -32602, 5, 'params.cursor: '],
    ['has wrong metadata', call({ name: 'agents_list', _meta: 3 }), -32602, 7, 'params._meta: '],
    ['begins wrongly', line({ id: 6, method: 'initialize', params: {} }), -32602, 6, 'params.protocolVersion: '],
    ['calls nothing', call({}), -32602, 7, 'params.name: '],
    ['calls a tool with null', call({ name: 'agents_list', arguments: null }), -32602, 7, 'arguments: expected an object of named arguments, got null'],
    ['calls a tool with a list', call({ name: 'agents_list', arguments: [] }), -32602, 7, 'got a list'],
    ['calls a tool with a text', call({ name: 'agents_list', arguments: 'x' }), -32602, 7, 'got a string'],
    ['names the prototype as an argument', call({ name: 'agents_list', arguments: JSON.parse('{"__proto__":{"x":1}}') as unknown }), -32602, 7, '"__proto__" is no argument'],
    ['calls a tool that is not there', call({ name: 'agent_fly' }), -32602, 7, 'unknown tool "agent_fly"'],
    ['asks for what is not there', line({ id: 8, method: 'tasks/list' }), -32601, 8, 'Method not found'],
  ]; // prettier-ignore
  it.each(unreadable)(
    'that %s is answered, plainly, and the next one is read',
    async (_name, bytes, code, id, part) => {
      const { answers, mesh } = await serve();
      const [answer, ...others] = await answers(bytes, 1);
      expect([answer?.id, answer?.error?.code, others]).toEqual([id, code, []]);
      expect(answer?.error?.message).toContain(part);
      expect(answer?.error?.message).not.toMatch(/[\n{}]|expected"|zod|at .*:\d+:\d+/i);
      expect(mesh.log).toEqual([]);
    },
  );

  it('that is longer than 10 MB is dropped as it comes, and told once', async () => {
    const { answers } = await serve();
    const chunk = Buffer.alloc(1 << 20, 'x');
    const long = Buffer.concat([...Array.from({ length: 12 }, () => chunk), Buffer.from('\n')]);
    const told = await answers(long, 1);
    expect(told).toMatchObject([{ id: null, error: { code: -32700 } }]);
    expect(told[0]?.error?.message).toContain('10485760 bytes');
  });

  it('that is empty, a wrong notification or a wrong answer is not answered', async () => {
    const { answers } = await serve();
    const silent = [
      '\n  \r\n',
      line({ method: 'notifications/cancelled', params: [] }),
      line({ method: 'notifications/none' }),
      line({ id: null, error: { code: -32700, message: 'x' } }),
      line({ id: 99, result: {} }),
    ];
    expect(await answers(silent.join(''), 0)).toEqual([]);
  });

  it('ends with \\r\\n, comes in pieces or with others, all the same', async () => {
    const { answers, write } = await serve();
    const bytes = Buffer.from(call({ name: 'agents_list', arguments: { agent_id: 'é' } }).replace('\n', '\r\n'));
    for (const byte of bytes.subarray(0, -1)) write(Buffer.from([byte]));
    expect(await answers(Buffer.concat([bytes.subarray(-1), Buffer.from('{\n'), bytes]), 3)).toHaveLength(3);
  });
});

describe('a tool call', () => {
  const send = (payload: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent_send","arguments":{"to":"a","msg_type":"note","payload":${payload}}}}\n`;

  it.each([
    ['{"n":9007199254740993}', 'the number 9007199254740993 would arrive as 9007199254740992'],
    ['{"n":1e400}', 'the number 1e400 would arrive as Infinity'],
    ['{"a":1,"a":2}', 'the key "a" is there twice'],
  ])('whose payload %s would be changed by reading it is refused', async (payload, part) => {
    const { answers, mesh } = await serve();
    const [answer] = await answers(send(payload), 1);
    expect(answer?.result).toMatchObject({ isError: true, structuredContent: { error: { code: 400, name: 'invalid_argument' } } }); // prettier-ignore
    expect((answer?.result?.structuredContent?.['error'] as { message: string }).message).toContain(part);
    expect(mesh.log.map(({ name }) => name)).toEqual(['startWorker']);
  });

  it('whose payload survives is handed on', async () => {
    const { answers, mesh } = await serve();
    await answers(send('{"n":9007199254740992,"x":1.0,"y":1e2,"z":null}'), 1);
    expect(mesh.log.at(-1)?.args).toMatchObject({ payload: { n: 9007199254740992, x: 1, y: 100, z: null } });
  });

  it('that the system refuses says so, and is no internal error', async () => {
    const refused = Object.assign(new Error("ENOENT: no such file or directory, open '/s/tmp_mesh_1_a'"), {
      code: 'ENOENT',
      errno: -2,
      syscall: 'open',
    });
    const { answers } = await serve(stubMesh({ sent: () => Promise.reject(refused) }));
    const [answer] = await answers(call({ name: 'agent_sent' }), 1);
    expect(answer?.result?.structuredContent).toMatchObject({ error: { code: 503, name: 'store_unusable' } });
    expect(JSON.stringify(answer)).not.toContain('tmp_mesh');
  });
});
