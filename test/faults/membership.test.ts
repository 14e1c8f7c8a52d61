import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';
import { failingStep } from './failing-step.js';

/** Every how many-th step is tried; 1 tries all, which takes minutes. */
const stride = Number(process.env['STEP_STRIDE'] ?? 12);
/** More steps than either command takes. */
const enough = 400;

const refs = (remote: string): string[] =>
  stockGit(['for-each-ref', '--format=%(refname)'], { cwd: remote })
    .split('\n')
    .filter((ref) => ref !== '');

/** What stands where the store belongs, and beside it. */
const beside = (machine: Machine): string[] => readdirSync(machine.root).filter((name) => name.startsWith('store'));

interface Attempt {
  machine: Machine;
  remote: string;
  args: readonly ['init' | 'join', ...string[]];
}

function founding(root: string, at: number): Attempt {
  const remote = bareRemote(root, `hub-${at}.git`);
  const machine = new Machine(root, `f${at}`);
  return { machine, remote, args: ['init', '--remote', remote, '--machine', machine.handle] };
}

async function expectWhole({ machine, remote, args }: Attempt, at: number): Promise<void> {
  const text = `step ${at}`;
  const again = await machine.run([...args, '--json']);
  const finished = again.code === 0 || again.stdout.includes('nothing is left to do');
  expect(finished, `${text}: ${again.stdout}${again.stderr}`).toBe(true);
  expect(beside(machine), text).toEqual(['store']);
  expect(refs(remote), text).toEqual(
    expect.arrayContaining(['refs/heads/main', 'refs/heads/mesh/_charter', `refs/heads/mesh/${machine.handle}`]),
  );
  machine.git(['fsck', '--strict']);
  expect(await machine.json(['sync']), text).toMatchObject({ state: 'ok', queued: 0 });
}

for (const command of ['init', 'join'] as const) {
  /** A new machine's attempt; for `join` at a mesh that is there. */
  const prepared = async (): Promise<(root: string, at: number) => Attempt> => {
    if (command === 'init') return founding;
    const root = scratch();
    const first = founding(root, 0);
    await first.machine.json(first.args);
    await first.machine.json(['send', '*', 'freeze', '--payload', '{"repo":"shop"}']);
    await first.machine.json(['sync']);
    return (under, at) => {
      // Each on a mesh of its own: with every machine in it a join takes more steps.
      const remote = join(under, `hub-${at}.git`);
      cpSync(first.remote, remote, { recursive: true });
      return { machine: new Machine(under, `m${at}`), remote, args: ['join', remote, '--machine', `m${at}`] };
    };
  };

  test(`${command} that was killed at any step is finished by the same command`, async () => {
    const attempt = await prepared();
    const root = scratch();
    let killed = 0;
    for (let at = 0; at < enough; at += stride) {
      const tried = attempt(root, at);
      const ended = await tried.machine.run(tried.args, { env: failingStep(root, { how: 'kill', at }) });
      if (ended.code === 0) break;
      expect(ended.signal, `step ${at}: ${ended.stderr}`).toBe('SIGKILL');
      killed += 1;
      await expectWhole(tried, at);
    }
    expect(killed).toBeGreaterThan(3);
    expect(killed).toBeLessThan(enough / stride);
  }, 600_000);

  test(`${command} on a disk that fills up at any step leaves nothing, or says what there is and is finished later`, async () => {
    const attempt = await prepared();
    const root = scratch();
    const seen = { nothing: 0, something: 0 };
    for (let at = 0; at < enough; at += stride) {
      const tried = attempt(root, at);
      const ended = await tried.machine.run([...tried.args, '--json'], { env: failingStep(root, { how: 'full', at }) });
      if (ended.code === 0) break;
      const text = `step ${at}: ${ended.stdout}${ended.stderr}`;
      expect(ended.code, text).toBe(5);
      const { error } = JSON.parse(ended.stdout) as { error: { name: string; message: string } };
      expect(error.name, text).toBe('disk_full');
      const there = refs(tried.remote).includes(`refs/heads/mesh/${tried.machine.handle}`);
      const exists = existsSync(join(tried.machine.store, 'config'));
      seen[exists || there ? 'something' : 'nothing'] += 1;
      if (exists || there) {
        expect(error.message, text).not.toMatch(/nothing was/i);
        expect(error.message, text).toContain(tried.machine.store);
        expect(error.message, text).toContain('run the same command again');
      } else {
        expect(beside(tried.machine), text).toEqual([]);
      }
      await expectWhole(tried, at);
    }
    expect(seen.nothing).toBeGreaterThan(0);
    expect(seen.something).toBeGreaterThan(0);
  }, 600_000);
}

// The hook's parent is the remote's git, and that one's parent the command.
test.skipIf(process.platform === 'win32').each(['taken', 'refused'])(
  'init and join that are killed while the remote looks at the push, which is then %s, are finished by the same command',
  async (verdict) => {
    const root = scratch();
    const first = founding(root, 0);
    const hook = join(first.remote, 'hooks', 'pre-receive');
    mkdirSync(join(first.remote, 'hooks'), { recursive: true });
    const script = `#!/bin/sh\nkill -9 $(ps -o ppid= -p $PPID)\nexit ${verdict === 'taken' ? 0 : 1}\n`;
    const laptop = new Machine(root, 'laptop');
    for (const attempt of [
      first,
      { ...first, machine: laptop, args: ['join', first.remote, '--machine', 'laptop'] as const },
    ]) {
      writeFileSync(hook, script, { mode: 0o755 });
      const ended = await attempt.machine.run(attempt.args);
      expect(ended.signal, ended.stdout + ended.stderr).toBe('SIGKILL');
      rmSync(hook);
      await expectWhole(attempt, 0);
    }
  },
);
