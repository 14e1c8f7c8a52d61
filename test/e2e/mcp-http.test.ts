import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Machine, solo } from '../machines.js';

/** The server, as far as a person sees it, and clients for it. */
async function serve(machine: Machine) {
  const child = machine.spawn(['mcp', '--http', '0']);
  let said = '';
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await expect.poll(() => said, { timeout: 20_000 }).toContain('Bearer');
  const [, url = ''] = /(http:\/\/127\.0\.0\.1:\d+\/mcp)/.exec(said) ?? [];
  const [, token = ''] = /Bearer (\S+)/.exec(said) ?? [];
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'across', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    onTestFinished(() => client.close());
    await client.connect(transport);
    await client.listTools();
    return client;
  };
  return { child, url, token, gone, connect, out: () => out };
}

test('over HTTP two clients share a machine, and a wait hears what the other sends', async () => {
  const machine = await solo();
  const { child, connect, gone, out, token } = await serve(machine);
  const [one, two] = await Promise.all([connect(), connect()]);
  // Listing the tools began nothing.
  expect(existsSync(join(machine.store, 'mesh', 'worker.json'))).toBe(false);
  await one.callTool({ name: 'agent_checkin', arguments: { agent_id: 'one', confirm: true } });
  await two.callTool({ name: 'agent_checkin', arguments: { agent_id: 'two', confirm: true } });
  const waiting = two.callTool({ name: 'agent_inbox', arguments: { agent_id: 'two', wait_seconds: 30 } });
  const sent = await one.callTool({
    name: 'agent_send',
    arguments: { to: 'solo', to_agent: 'two', msg_type: 'note', payload: { text: 'hello' } },
  });
  expect(sent.isError).toBeUndefined();
  expect((await waiting).structuredContent).toMatchObject({
    messages: [{ from: { machine: 'solo', agent: 'one' }, payload: { text: 'hello' } }],
  });
  child.kill('SIGTERM');
  expect(await gone).toBe(0);
  expect(out()).toBe('');
  expect(machine.git(['log', '--all', '--format=%B'])).not.toContain(token);
});
