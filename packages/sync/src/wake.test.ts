import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Logger } from '@git-mesh/core';
import { testMesh } from '@git-mesh/core/testing';
import type { TestMachine, TestMesh } from '@git-mesh/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { openMesh } from './open.js';
import { GitFixture } from './testing/git-fixture.js';
import { Wake } from './wake.js';

/** Writes down the bytes of each argument, then does what the file `mode` says. */
const fakeHerdr = `#!${process.execPath}
const fs = require('node:fs');
const [, , ...args] = process.argv;
const file = (name) => require('node:path').join(__dirname, name);
fs.appendFileSync(file('calls'), JSON.stringify(args.map((arg) => Buffer.from(arg).toString('hex'))) + '\\n');
const mode = fs.readFileSync(file('mode'), 'utf8').trim();
const [, verb] = args;
if (mode === 'hangs') {
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  fs.writeFileSync(file('pids'), process.pid + ' ' + child.pid);
  setInterval(() => {}, 1000);
} else if (mode === 'fails' || (mode === 'prompt fails' && verb === 'prompt')) {
  process.stderr.write('{"error":{"code":"agent_not_found"}}\\n');
  process.exitCode = 1;
} else if (mode === 'mute') {
  process.stdout.write('hello');
} else {
  const agent_status = mode === 'blocked' ? 'blocked' : 'idle';
  process.stdout.write(JSON.stringify({ result: { agent: { agent_status } } }) + '\\n');
}
`;

class Fake {
  readonly folder: string;
  readonly env: Record<string, string | undefined>;

  constructor(folder: string) {
    this.folder = folder;
    this.env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
    mkdirSync(folder);
    writeFileSync(join(folder, 'herdr'), fakeHerdr);
    chmodSync(join(folder, 'herdr'), 0o755);
    this.does('answers');
  }

  does(mode: 'answers' | 'blocked' | 'fails' | 'prompt fails' | 'hangs' | 'mute'): void {
    writeFileSync(join(this.folder, 'mode'), mode);
  }

  calls(): string[][] {
    const file = join(this.folder, 'calls');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => (JSON.parse(line) as string[]).map((hex) => Buffer.from(hex, 'hex').toString()));
  }

  prompts(): string[][] {
    return this.calls().filter(([, verb]) => verb === 'prompt');
  }
}

const text = (n: number): string => `[auto-wake #2540] Hay ${n} mensajes de Agent Mesh; llamá agent_inbox`;
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

// Waking is not there on Windows; what it does there is nothing, which the last test shows everywhere.
describe.skipIf(process.platform === 'win32')('waking a Herdr pane', () => {
  let git: GitFixture;
  let herdr: Fake;
  let mesh: TestMesh;
  let studio: TestMachine;
  let laptop: TestMachine;
  let logged: string[];
  let wake: Wake;

  const logger: Logger = { ...silentLogger, warn: (line) => logged.push(line) };
  const newWake = (env = herdr.env, timeoutMs = 20_000): Wake => new Wake({ mesh: studio.ctx, env, logger, timeoutMs });
  const look = async (by = wake): Promise<void> => {
    by.look();
    await by.idle();
  };
  const send = async (from: TestMachine, extra: object = {}): Promise<number> => {
    const payload = { message: 'rm -rf / `id` $(id)' };
    const sent = await from.api.send({ to: 'studio', msg_type: 'note', payload, ...extra }, from.call());
    return sent.message_id;
  };
  const arrive = async (count: number, extra: object = {}): Promise<void> => {
    for (let i = 0; i < count; i++) await send(laptop, extra);
    await studio.receive(laptop);
  };

  beforeEach(async () => {
    git = new GitFixture();
    herdr = new Fake(git.path('herdr-bin'));
    mesh = await testMesh('studio', 'laptop');
    [studio, laptop] = mesh.machines as [TestMachine, TestMachine];
    logged = [];
    wake = newWake();
    await studio.checkin('Boss', { herdr_pane: 'w1:p 2;$(id)' });
  });
  afterEach(async () => {
    await wake.idle();
    await mesh.remove();
    git.remove();
  });

  it('says how many messages there are, in these very bytes, and nothing of them', async () => {
    await arrive(2);
    await look();
    expect(herdr.calls()).toEqual([
      ['agent', 'get', 'w1:p 2;$(id)'],
      ['agent', 'prompt', 'w1:p 2;$(id)', text(2)],
    ]);
    expect(logged).toEqual([]);
  });

  it('prompts once for a batch, whoever looks again, and for the next one with its own count', async () => {
    await arrive(2);
    await look();
    await look();
    await look(newWake());
    expect(herdr.prompts().length).toBe(1);
    await arrive(1);
    await look();
    await look(newWake());
    expect(herdr.prompts().map((args) => args[3])).toEqual([text(2), text(1)]);
  });

  it('prompts once where two processes look at the same time', async () => {
    await arrive(1);
    const other = newWake();
    await Promise.all([look(), look(other)]);
    expect(herdr.prompts().length).toBe(1);
  });

  it('leaves alone what nobody is there for, what is read already, and what one sent to all oneself', async () => {
    await studio.checkin('quiet');
    await laptop.receive(studio);
    await look();
    await arrive(1, { to_agent: 'quiet' });
    await send(studio, { to: '*', from_agent: 'Boss' });
    await arrive(1);
    await studio.api.ack({ agent_id: 'Boss', message_ids: [3], confirm: true }, studio.call());
    await look();
    expect(herdr.calls()).toEqual([]);
    await studio.api.checkout({ agent_id: 'Boss', confirm: true }, studio.call());
    await arrive(1);
    await look();
    expect(herdr.calls()).toEqual([]);
  });

  it('leaves alone an agent whose time is over', async () => {
    mesh.clock.advance(3_600_000);
    await arrive(1);
    await look();
    expect(herdr.calls()).toEqual([]);
  });

  it('wakes for what another agent of this machine sent', async () => {
    await send(studio, { from_agent: 'other' });
    await look();
    expect(herdr.prompts().map((args) => args[3])).toEqual([text(1)]);
  });

  it('does not prompt a blocked agent, and prompts for all of it once it goes on', async () => {
    herdr.does('blocked');
    await arrive(1);
    await look();
    await arrive(1);
    await look();
    expect([herdr.calls().length, herdr.prompts(), logged]).toEqual([2, [], []]);
    herdr.does('answers');
    await look();
    await look();
    expect(herdr.prompts().map((args) => args[3])).toEqual([text(2)]);
  });

  it('takes an answer without a status for no block', async () => {
    herdr.does('mute');
    await arrive(1);
    await look();
    expect(herdr.prompts().length).toBe(1);
  });

  it('only logs a herdr that fails', async () => {
    herdr.does('fails');
    await arrive(1);
    await look();
    expect(herdr.prompts()).toEqual([]);
    herdr.does('prompt fails');
    await arrive(1);
    await look();
    await look();
    expect(herdr.prompts().length).toBe(1);
    expect(logged).toEqual([
      expect.stringMatching(/Boss was not woken: herdr ended with 1: .*agent_not_found/),
      expect.stringMatching(/Boss was not woken: herdr ended with 1: .*agent_not_found/),
    ]);
  });

  it('only logs that there is no herdr, and takes a damaged note of what it did for none', async () => {
    await arrive(1);
    await look(newWake({ ...process.env, PATH: git.path('empty') }));
    expect(logged).toEqual([expect.stringContaining('there is no herdr on the PATH')]);
    writeFileSync(join(studio.store.dir, 'mesh', 'wakes.json'), '{"boss":1');
    await look();
    expect(herdr.prompts().length).toBe(1);
  });

  it('ends a herdr that hangs, with what it started', async () => {
    herdr.does('hangs');
    await arrive(1);
    await look(newWake(herdr.env, 1_500));
    expect(logged).toEqual([expect.stringContaining('did not answer within 1.5 s and was ended')]);
    const pids = readFileSync(join(herdr.folder, 'pids'), 'utf8').split(' ').map(Number);
    expect(pids.length).toBe(2);
    await expect.poll(() => pids.filter(isAlive), { timeout: 5_000 }).toEqual([]);
  });

  it('does nothing on Windows', async () => {
    await arrive(1);
    const onWindows = new Wake({ mesh: { ...studio.ctx, platform: 'win32' }, env: herdr.env, logger });
    await look(onWindows);
    expect(herdr.calls()).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('an open mesh', () => {
  it('wakes after a round that brought messages, and closes only when that is done', { timeout: 60_000 }, async () => {
    const git = new GitFixture();
    try {
      const herdr = new Fake(git.path('herdr-bin'));
      const remote = git.bare('remote.git');
      const setup = (machine: string) => ({ dir: git.path(machine), env: herdr.env, logger: silentLogger, hostname: machine }); // prettier-ignore
      await initMesh({ ...setup('studio'), remote });
      await joinMesh({ ...setup('laptop'), url: remote });
      const studio = await openMesh(setup('studio'));
      const call = { connection: studio.newConnection({ resident: false }) };
      await studio.api.checkin({ agent_id: 'boss', herdr_pane: 'p1', confirm: true }, call);
      await studio.syncNow();

      const laptop = await openMesh(setup('laptop'));
      const input = { to: 'studio', msg_type: 'note', payload: { message: 'hi' } };
      await laptop.syncNow();
      await laptop.api.send(input, { connection: laptop.newConnection({ resident: false }) });
      await laptop.syncNow();
      await laptop.close();
      expect(herdr.calls()).toEqual([]);

      await studio.syncNow();
      await studio.syncNow();
      await studio.close();
      expect(herdr.calls()).toEqual([
        ['agent', 'get', 'p1'],
        ['agent', 'prompt', 'p1', text(1)],
      ]);
    } finally {
      git.remove();
    }
  });
});
