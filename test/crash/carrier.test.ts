import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../environment.js';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';

const never = 1_000_000;
/** Each is a process and the check of what it left behind. */
const kills = 10;

/** Runs an export or import that is killed at one step of its writing; how many it took where it was not. */
function carrier(machine: Machine, what: 'export' | 'import', file: string, step: number): number | 'killed' {
  const program = join(workspaceRoot, 'test/dist/crash/carrier.js');
  const args = [program, machine.store, what, file, String(step)];
  const { signal, stdout, stderr } = spawnSync(process.execPath, args, { env: machine.env, encoding: 'utf8' });
  if (signal === 'SIGKILL') return 'killed';
  if (stdout === '') throw new Error(`the carrier failed: ${stderr}`);
  return Number(stdout);
}

/** The steps to be killed at: all of them, or as many as there is time for, the first and the last among them. */
function chosen(steps: number): number[] {
  const count = Math.min(steps, kills);
  return Array.from({ length: count }, (_, n) => 1 + Math.round((n * (steps - 1)) / Math.max(1, count - 1)));
}

async function pair(): Promise<{ root: string; studio: Machine; lab: Machine }> {
  const root = scratch();
  const [studio, lab] = [new Machine(root, 'studio'), new Machine(root, 'lab')];
  await studio.json(['init', '--machine', 'studio']);
  await studio.json(['export', join(root, 'join.bundle')]);
  await lab.json(['join', join(root, 'join.bundle'), '--machine', 'lab']);
  await lab.json(['checkin', 'qa']);
  await studio.json(['send', '*', 'note', '--message', 'hello']);
  return { root, studio, lab };
}

test('an import that is killed at any step leaves a sound store, and the next one brings everything, once', async () => {
  const { root, studio, lab } = await pair();
  const file = join(root, 'x.bundle');
  await studio.json(['export', file]);
  const saved = join(root, 'saved');
  cpSync(lab.store, saved, { recursive: true });
  const reset = (): void => {
    rmSync(lab.store, { recursive: true });
    cpSync(saved, lab.store, { recursive: true });
  };
  const steps = carrier(lab, 'import', file, never);
  if (steps === 'killed') throw new Error('nothing was to kill it');
  expect(steps).toBeGreaterThan(10);
  let killed = 0;
  for (const step of chosen(steps)) {
    reset();
    // A step that fails by itself, as the link to a name that is taken, is gone past.
    if (carrier(lab, 'import', file, step) === 'killed') killed += 1;
    lab.git(['fsck', '--strict']);
    await lab.json(['import', file]);
    const { messages } = await lab.json(['inbox', 'qa']);
    expect(
      messages.map(({ payload }) => payload['message']),
      `step ${step}`,
    ).toEqual(['hello']);
    expect(lab.git(['rev-parse', 'refs/heads/mesh/studio'])).toBe(studio.git(['rev-parse', 'refs/heads/mesh/studio']));
    expect(lab.git(['log', '--format=%s', 'refs/heads/mesh/lab']), `step ${step}`).toContain('receipt');
    lab.git(['fsck', '--strict']);
  }
  expect(killed).toBeGreaterThan(kills / 2);
}, 180_000);

test('an export that is killed at any step leaves the old file or the new one whole, and forgets nothing for later', async () => {
  const { root, studio } = await pair();
  const nowhere = bareRemote(root, 'nowhere.git');
  const folder = join(root, 'stick');
  mkdirSync(folder);
  const file = join(folder, 'x.bundle');
  const memory = join(studio.store, 'mesh', 'exports');
  const reset = (): void => {
    rmSync(memory, { recursive: true, force: true });
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeFileSync(file, 'old');
  };
  reset();
  const steps = carrier(studio, 'export', file, never);
  if (steps === 'killed') throw new Error('nothing was to kill it');
  expect(steps).toBeGreaterThan(5);
  let replaced = 0;
  for (const step of chosen(steps)) {
    reset();
    expect(carrier(studio, 'export', file, step), `step ${step}`).toBe('killed');
    const isOld = readFileSync(file).toString('latin1') === 'old';
    if (!isOld) {
      stockGit(['--git-dir', nowhere, 'bundle', 'verify', file]);
      replaced += 1;
    }
    const next = await studio.json(['export', join(root, 'next.bundle'), '--since-last', 'lab']);
    // What is noted as exported is on the disk; what is exported twice does no harm.
    if (isOld) expect(next, `step ${step}`).toMatchObject({ branches: 2 });
  }
  expect(replaced).toBeGreaterThan(0);
}, 180_000);
