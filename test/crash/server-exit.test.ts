import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { launcher } from '../environment.js';
import { Machine, mesh } from '../machines.js';
import { isRunning } from '../process-state.js';
import { endWithTest, scratch } from '../scratch.js';
import { until } from '../until.js';

const request = (id: number, method: string, params: unknown): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const hello = request(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
});
const ready = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`;
// A tool call starts the worker: from here on timers and watchers run.
const status = request(2, 'tools/call', { name: 'agent_mesh_status', arguments: {} });

/** A server that has answered a tool call, and everything it has written to stdout so far. */
async function busyServer(machine: Machine): Promise<{ child: ReturnType<Machine['spawn']>; stdout: () => string }> {
  const child = machine.spawn(['mcp']);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stdin.write(hello + ready + status);
  await until(() => stdout.includes('"id":2'), { what: 'the server answers' });
  await until(async () => (await machine.json(['status'])).worker?.pid === child.pid, { what: 'its worker runs' });
  return { child, stdout: () => stdout };
}

test('the server ends when its stdin closes, and has written nothing but protocol to stdout', async () => {
  const { machines } = await mesh(['studio']);
  const { child, stdout } = await busyServer(machines[0]);
  child.stdin.write('this is no JSON-RPC\n');
  child.stdin.end();
  const [code] = (await Promise.race([once(child, 'exit'), until(() => false, { within: 5000, what: 'it ends' })])) as [
    number | null,
  ];
  expect(code).toBe(0);
  const lines = stdout()
    .split('\n')
    .filter((line) => line !== '');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  await until(async () => (await machines[0].json(['status'])).worker === null, {
    within: 5000,
    what: 'no worker is left',
  });
});

test.skipIf(process.platform === 'win32')('the server ends on SIGTERM and SIGINT', async () => {
  const { machines } = await mesh(['studio']);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child } = await busyServer(machines[0]);
    const exit = once(child, 'exit');
    child.kill(signal);
    await Promise.race([exit, until(() => false, { within: 5000, what: `it ends on ${signal}` })]);
  }
});

test('the server ends when the process that started it is killed', async () => {
  const { machines } = await mesh(['studio']);
  const [studio] = machines;
  const program = `
    const { spawn } = require('node:child_process');
    const server = spawn(process.execPath, [${JSON.stringify(launcher)}, 'mcp'], { stdio: ['pipe', 'pipe', 'ignore'] });
    server.stdout.pipe(process.stdout);
    server.stdin.write(${JSON.stringify(hello + ready + status)});
  `;
  const parent = spawn(process.execPath, ['-e', program], { cwd: studio.root, env: studio.env });
  endWithTest(parent);
  const pid = await until(async () => (await studio.json(['status'])).worker?.pid, { what: 'the worker runs' });
  expect(pid).not.toBe(parent.pid);
  parent.kill('SIGKILL');
  await until(() => !isRunning(pid), { within: 5000, what: 'the server is gone' });
});

test('a server that found no mesh ends with its stdin too', async () => {
  const alone = new Machine(scratch(), 'alone');
  const child = alone.spawn(['mcp']);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stdin.write(hello + ready + status);
  await until(() => stdout.includes('"id":2'), { what: 'the server answers' });
  const exit = once(child, 'exit');
  child.stdin.end();
  await Promise.race([exit, until(() => false, { within: 5000, what: 'it ends' })]);
});
