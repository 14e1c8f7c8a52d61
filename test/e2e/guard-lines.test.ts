import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { launcher, workspaceRoot } from '../environment.js';
import { type Machine, mesh } from '../machines.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** The shell's lines that stand in docs/freezes.md below a heading: what people copy is what is run. */
function documented(heading: string): string {
  const page = readFileSync(join(workspaceRoot, 'docs', 'freezes.md'), 'utf8');
  const [, lines] = /```sh\n(.*?)```/s.exec(page.slice(page.indexOf(`### ${heading}`))) ?? [];
  if (lines === undefined) throw new Error(`no lines below ${heading}`);
  return lines;
}

/** An environment in which `git mesh` is this build's. */
function withGitMesh({ root, env }: Machine): Record<string, string> {
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'git-mesh'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(bin, 'git-mesh'), 0o755);
  return { ...env, PATH: `${bin}${delimiter}${env['PATH'] ?? ''}` };
}

interface Ran {
  code: number;
  output: string;
}

/** Waits for it beside the test, whose own processes go on. */
async function run(
  command: string,
  args: string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Ran> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'stdout' in error && 'stderr' in error)) throw error;
    return { code: Number(error.code), output: `${String(error.stdout)}${String(error.stderr)}` };
  }
}

// The lines are a POSIX shell's.
const noShell = spawnSync('sh', ['-c', 'true']).status !== 0;

test.skipIf(noShell)(
  'the documented pre-push hook stops a git push while a freeze of another machine holds',
  async () => {
    const { machines } = await mesh(['studio', 'laptop']);
    const [studio, laptop] = machines;
    const env = withGitMesh(laptop);
    const code = bareRemote(laptop.root, 'code.git');
    const clone = join(laptop.root, 'shop');
    stockGit(['clone', '-q', code, clone]);
    stockGit(['commit', '-q', '--allow-empty', '-m', 'ready'], { cwd: clone });
    const hook = join(clone, '.git', 'hooks', 'pre-push');
    mkdirSync(join(clone, '.git', 'hooks'), { recursive: true });
    writeFileSync(hook, documented('In a pre-push hook'));
    chmodSync(hook, 0o755);
    const push = (more: Record<string, string> = {}): Promise<Ran> =>
      run('git', ['push', '-q', 'origin', 'HEAD:main'], { cwd: clone, env: { ...env, ...more } });
    const pushed = (): string => stockGit(['--git-dir', code, 'for-each-ref', '--format=%(subject)']);

    await studio.json(['freeze', '--repo', 'shop', '--reason', 'cutting 2.1']);
    const held = await push();
    expect([held.code, held.output.includes('cutting 2.1'), pushed()]).toEqual([1, true, '']);
    // What the mesh knows nothing of is nobody's to hold.
    expect((await push({ GIT_MESH_DIR: join(laptop.root, 'no-store') })).code).toBe(0);
    expect(pushed()).toBe('ready');

    stockGit(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd: clone });
    expect([(await push()).code, pushed()]).toEqual([1, 'ready']);
    await studio.json(['unfreeze', '--repo', 'shop']);
    expect([(await push()).code, pushed()]).toEqual([0, 'more']);
  },
);

test.skipIf(noShell)(
  'the documented lines of a CI job fail it while a freeze holds, and where nothing is sure',
  async () => {
    const { machines, remote, root } = await mesh(['studio', 'laptop']);
    const [studio, laptop] = machines;
    const { GIT_MESH_DIR: _own, ...env } = withGitMesh(laptop);
    const store = join(root, 'ci store');
    const [joining, guard] = documented('In a CI job')
      .replaceAll('/mnt/share/team.git', `'${remote}'`)
      .replaceAll('/var/lib/git-mesh', `'${store}'`)
      .trim()
      .split('\n');
    const job = (line: string | undefined): Promise<Ran> => run('sh', ['-ec', line ?? ''], { cwd: root, env });
    expect((await job(joining)).code).toBe(0);
    expect((await job(guard)).code).toBe(0);
    await studio.json(['freeze', '--repo', 'shop', '--reason', 'cutting 2.1']);
    const held = await job(guard);
    expect([held.code, held.output.includes('by studio: cutting 2.1')]).toEqual([20, true]);
    await studio.json(['unfreeze', '--repo', 'shop']);
    expect((await job(guard)).code).toBe(0);
    renameSync(remote, `${remote}.away`);
    expect((await job(guard)).code).toBe(5);
  },
);
