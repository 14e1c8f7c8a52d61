import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stockGit } from '../stock-git.js';

const env = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

/** A working copy of a machine's branch, for stock git. */
export class Clone {
  readonly path: string;
  readonly branch: string;

  constructor(repository: string, path: string, handle: string) {
    this.path = path;
    this.branch = `mesh/${handle}`;
    // As over a network, into one pack: the best case for git.
    stockGit(['clone', '-q', '--no-local', '--branch', this.branch, repository, path]);
    stockGit(['config', 'user.name', handle], { cwd: path });
    stockGit(['config', 'user.email', `${handle}@mesh.invalid`], { cwd: path });
    // Housekeeping would fall on runs at random; leaving it out favours git.
    stockGit(['config', 'gc.auto', '0'], { cwd: path });
    stockGit(['config', 'maintenance.auto', 'false'], { cwd: path });
  }

  /** One command, nothing captured: the cheapest way to run git. */
  git(args: readonly string[]): void {
    const { status } = spawnSync('git', args, { cwd: this.path, env, stdio: 'ignore' });
    if (status !== 0) throw new Error(`git ${args.join(' ')} ended with ${status ?? 'a signal'}`);
  }

  write(file: string, body: string): void {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body);
  }

  commit(file: string): void {
    this.git(['add', '--', file]);
    this.git(['commit', '-q', '-m', 'send laptop note']);
  }
}

/** The newest message on a machine's branch: its path and text. */
export function newestMessage(store: string, handle: string, id: string): { file: string; body: string } {
  const git = (args: string[]): string => stockGit(['--git-dir', store, ...args]);
  const changed = git(['log', '-n', '5', '--format=', '--name-only', `refs/heads/mesh/${handle}`, '--', 'messages/']);
  const file = changed.split('\n').find((path) => path.endsWith(`${id}.yaml`));
  if (file === undefined) throw new Error(`message ${id} is in none of the last commits`);
  return { file, body: `${git(['show', `refs/heads/mesh/${handle}:${file}`])}\n` };
}
