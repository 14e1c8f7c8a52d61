import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { requireBundle } from '../bundle.js';
import { Machine, solo } from '../machines.js';
import { scratch } from '../scratch.js';

/** The tests' environment turns it off. */
const on = { GIT_MESH_NO_CODE_CACHE: '' };
const inbox = ['inbox', 'qa', '--json'];

/** The files of compiled code in a machine's home, by the command. */
function keptCode(machine: Machine): Map<string, string> {
  const home = join(machine.root, 'home');
  const found = existsSync(home) ? readdirSync(home, { recursive: true, encoding: 'utf8' }) : [];
  const files = found.filter((path) => /[\\/]git-mesh[\\/]code[\\/][^\\/]+[\\/][^\\/]+$/.test(path));
  return new Map(files.map((path) => [path.split(/[\\/]/).pop() ?? '', join(home, path)]));
}

const fileOf = (machine: Machine, command: string): string => keptCode(machine).get(command) ?? 'none';

/** A machine with one message, whose inbox was shown once; what that printed. */
async function withKeptInbox(): Promise<{ machine: Machine; file: string; stdout: string }> {
  const machine = await solo();
  await machine.json(['checkin', 'qa', '--ttl', '86400']);
  await machine.json(['send', 'solo', 'note', '--message', 'hello']);
  const { code, stdout } = await machine.run(inbox, { env: on });
  expect(code).toBe(0);
  return { machine, file: fileOf(machine, 'inbox'), stdout };
}

beforeAll(requireBundle);

describe('the compiled code that a command keeps', () => {
  it('gives the same results, and is written once', async () => {
    const { machine, file, stdout } = await withKeptInbox();
    utimesSync(file, 1, 1);
    const again = await machine.run(inbox, { env: on });
    expect(again).toEqual({ code: 0, signal: null, stderr: '', stdout });
    expect(statSync(file).mtimeMs).toBe(1000);
    expect((await machine.run(inbox)).stdout).toBe(stdout);
    const failed = await machine.run(['inbox', 'nobody', '--json'], { env: on });
    expect(failed).toEqual(await machine.run(['inbox', 'nobody', '--json']));
  });

  it('is made anew where it was damaged: a damaged byte would crash the engine', async () => {
    const { machine, file, stdout } = await withKeptInbox();
    const whole = readFileSync(file);
    for (let n = 0; n < 10; n++) {
      const damaged = Buffer.from(whole);
      const at = Math.floor((whole.length * (n + 0.5)) / 10);
      damaged.writeUInt8(whole.readUInt8(at) ^ (1 + n), at);
      writeFileSync(file, damaged);
      expect(await machine.run(inbox, { env: on })).toEqual({ code: 0, signal: null, stderr: '', stdout });
    }
    for (const cut of [whole.subarray(0, whole.length / 2), Buffer.alloc(0), Buffer.from('no code')]) {
      writeFileSync(file, cut);
      expect(await machine.run(inbox, { env: on })).toEqual({ code: 0, signal: null, stderr: '', stdout });
      expect(statSync(file).size).toBeGreaterThan(100_000);
    }
  });

  it('may be written by several at once', async () => {
    const { machine, file, stdout } = await withKeptInbox();
    rmSync(file);
    const all = await Promise.all(Array.from({ length: 5 }, () => machine.run(inbox, { env: on })));
    for (const each of all) expect(each).toEqual({ code: 0, signal: null, stderr: '', stdout });
    expect(await machine.run(inbox, { env: on })).toEqual({ code: 0, signal: null, stderr: '', stdout });
    expect([...keptCode(machine).keys()]).toEqual(['inbox']);
  });

  it('is none where there is no home, or a file in its place', async () => {
    const machine = new Machine(scratch(), 'solo', on);
    writeFileSync(join(machine.root, 'home', '.cache'), '');
    writeFileSync(join(machine.root, 'home', 'Library'), '');
    for (const home of [machine.env['HOME'] ?? '', '/nonexistent/home', '']) {
      const env = { HOME: home, USERPROFILE: home, LOCALAPPDATA: home };
      const version = await machine.run(['--version'], { env });
      expect([version.code, version.stderr]).toEqual([0, '']);
    }
    expect(keptCode(machine)).toEqual(new Map());
  });

  it('is written by a server at its first call, not while it is only looked at', async () => {
    const machine = await solo();
    const looked = await machine.mcp({ env: on });
    await looked.client.listTools();
    await looked.close();
    expect(keptCode(machine)).toEqual(new Map());
    const called = await machine.mcp({ env: on });
    await called.call('agents_list', {});
    expect([...keptCode(machine).keys()]).toEqual(['mcp']);
    await called.close();
    const again = await machine.mcp({ env: on });
    expect((await again.client.listTools()).tools).toHaveLength(14);
    await again.close();
  });
});
