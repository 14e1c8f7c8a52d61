import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnvironment, type Environment } from '../environment.js';
import type { WakeRemotes } from './wake-remote.js';

const everyMs = 1_000;
const branch = 'notes';

/** What one would write in an afternoon: a sender that commits and pushes, a reader that fetches once a second. */
export class WakeRival {
  readonly #sender: string;
  readonly #reader: string;
  readonly #env: Environment;
  readonly #loop: Promise<void>;
  #ended = false;
  #waiting: { commit: string | null; seen: (at: number) => void } | null = null;

  private constructor(root: string, env: Environment) {
    this.#sender = join(root, 'sender');
    this.#reader = join(root, 'reader');
    this.#env = env;
    this.#loop = this.#read();
    // Whoever waits for it is told.
    this.#loop.catch(() => undefined);
  }

  static async start(root: string, { rival: url, env }: WakeRemotes): Promise<WakeRival> {
    mkdirSync(root);
    const none = process.platform === 'win32' ? 'NUL' : '/dev/null';
    const all = cleanEnvironment(root, { ...env, GIT_CONFIG_GLOBAL: none });
    const git = (...args: string[]): Promise<void> => runGit(root, all, args);
    await git('clone', '-q', url, 'sender');
    await git('-C', 'sender', 'checkout', '-q', '--orphan', branch);
    await git('-C', 'sender', 'config', 'user.name', 'sender');
    await git('-C', 'sender', 'config', 'user.email', 'sender@example.invalid');
    await git('-C', 'sender', 'commit', '-q', '--allow-empty', '-m', 'first');
    await git('-C', 'sender', 'push', '-q', 'origin', branch);
    await git('clone', '-q', '--single-branch', '--branch', branch, url, 'reader');
    for (const clone of ['sender', 'reader']) {
      await git('-C', clone, 'config', 'gc.auto', '0');
      await git('-C', clone, 'config', 'maintenance.auto', 'false');
    }
    return new WakeRival(root, all);
  }

  /** Milliseconds from the end of `git commit` until the reader has it. */
  async wake(): Promise<number> {
    appendFileSync(join(this.#sender, 'message'), 'hold merges\n');
    await this.#git(this.#sender, 'add', 'message');
    await this.#git(this.#sender, 'commit', '-q', '-m', 'a message');
    const accepted = performance.now();
    const commit = tipIn(this.#sender, 'refs/heads');
    const seen = new Promise<number>((resolve) => (this.#waiting = { commit, seen: resolve }));
    await this.#git(this.#sender, 'push', '-q', 'origin', branch);
    const ended = this.#loop.then(() => Promise.reject(new Error('the reader has ended')));
    return (await Promise.race([seen, ended])) - accepted;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#loop;
  }

  async #read(): Promise<void> {
    while (!this.#ended) {
      const next = sleep(everyMs);
      await this.#git(this.#reader, 'fetch', '-q', 'origin');
      if (this.#waiting !== null && tipIn(this.#reader, 'refs/remotes/origin') === this.#waiting.commit) {
        this.#waiting.seen(performance.now());
        this.#waiting = null;
      }
      await next;
    }
  }

  #git(cwd: string, ...args: string[]): Promise<void> {
    return runGit(cwd, this.#env, args);
  }
}

/** Nothing waits for it in this thread: the reader goes on while the sender pushes, and the http server is here too. */
function runGit(cwd: string, env: Environment, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`git ${args.join(' ')} ended with ${code ?? 'a signal'}`));
    });
  });
}

function tipIn(clone: string, folder: string): string | null {
  const file = join(clone, '.git', folder, branch);
  // A fresh clone has it packed.
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}
