import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launcher } from '../environment.js';
import { type Machine, solo } from '../machines.js';
import { until } from '../until.js';

/** The command as a shell runs it, with its redirections; `"$@"` is git-mesh. */
function inShell(machine: Machine, script: string): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', process.execPath, launcher], {
    cwd: machine.root,
    env: machine.env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

const sentMessages = async (machine: Machine): Promise<number> => (await machine.json(['sent'])).messages.length;

test.skipIf(process.platform !== 'linux')(
  'a send that cannot print says that it was done, and is there once',
  async () => {
    const machine = await solo();
    const full = inShell(machine, '"$@" send solo note > /dev/full');
    expect(full.code).toBe(6);
    expect(full.stderr).toMatch(/^git-mesh: this was done, so do not do it again; .*ENOSPC/);
    expect(inShell(machine, '"$@" send solo note > /dev/full 2> /dev/full').code).toBe(6);
    expect(inShell(machine, '"$@" send solo note --json | true')).toMatchObject({ code: 0, stderr: '' });
    expect(await sentMessages(machine)).toBe(3);
    expect(inShell(machine, '"$@" status > /dev/full')).toMatchObject({ code: 6, stderr: expect.not.stringContaining('done') as string }); // prettier-ignore
  },
);

test.skipIf(process.platform === 'win32')(
  'a current folder that is gone is in nobody’s way who names the store',
  async () => {
    const machine = await solo();
    const gone = join(machine.root, 'gone');
    mkdirSync(gone);
    const inGone = (line: string) => {
      mkdirSync(gone, { recursive: true });
      return inShell(machine, `cd gone && rmdir ../gone && ${line}`);
    };
    rmdirSync(gone);
    expect(inGone('"$@" send solo note').code).toBe(0);
    for (const line of ['unset GIT_MESH_DIR; "$@" status', '"$@" --dir x status']) {
      const { code, stderr } = inGone(line);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/current folder is gone.*--dir/)]);
    }
  },
);

test('a wait that is interrupted ends like any interrupted program, with nothing printed', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'qa']);
  for (const flags of [[], ['--json']]) {
    const child = machine.spawn(['inbox', 'qa', '--wait', '45', ...flags]);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const closed = new Promise<[number | null, string | null]>((resolve) => {
      child.on('close', (code, signal) => {
        resolve([code, signal]);
      });
    });
    await until(async () => (await machine.json(['status'])).worker?.pid === child.pid, { what: 'the wait has begun' });
    child.kill('SIGINT');
    const [code, signal] = await closed;
    // By itself, or by the signal where that came just before the wait.
    expect(code === 130 || signal === 'SIGINT').toBe(true);
    expect(printed).toBe('');
  }
});

test('help is asked for in each of its ways, and of a command that is none there is none', async () => {
  const machine = await solo();
  const help = await machine.run(['--help']);
  expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: git-mesh /) as string, stderr: '' });
  expect(await machine.run(['help'])).toEqual(help);
  expect(await machine.run(['help', 'send'])).toEqual(await machine.run(['send', '--help']));
  expect(await machine.run(['help', 'nonsense'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/unknown command 'nonsense'/) as string,
  });
});
