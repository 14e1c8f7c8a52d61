import { spawn } from 'node:child_process';
import type { ErrorResult } from '@git-mesh/core';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../environment.js';
import type { CommandResults } from '../machines.js';
import { type Answer, now, refused } from './answer.js';
import type { Mischief } from './schedule.js';

/** A command that takes longer has hung. */
const commandLimitMs = 120_000;

export interface CommandOptions {
  launcher: string;
  cwd: string;
  env: Environment;
  onBadAnswer: (text: string) => void;
  /** Called when one was killed, or held up. */
  onMischief: (how: Mischief['how']) => void;
}

/** Runs single commands of a machine, some of them only up to a moment in their middle. */
export class Commands {
  readonly #options: CommandOptions;
  /** How long one takes here, learnt on the way. */
  #typicalMs = 700;

  constructor(options: CommandOptions) {
    this.#options = options;
  }

  async run<C extends keyof CommandResults>(
    [command, ...args]: readonly [C, ...string[]],
    mischief: Mischief | null = null,
  ): Promise<Answer<CommandResults[C]>> {
    const { launcher, cwd, env, onBadAnswer, onMischief } = this.#options;
    const line = [command, '--json', ...args];
    const startedAt = now();
    const child = spawn(process.execPath, [launcher, ...line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const timer = setTimeout(() => {
      onBadAnswer(`git-mesh ${line.join(' ')} did not end within ${commandLimitMs} ms`);
      child.kill('SIGKILL');
    }, commandLimitMs);
    const over = new AbortController();
    const harm = this.#harm(mischief, over.signal, (signal) => {
      if (!child.kill(signal)) return;
      if (signal !== 'SIGCONT') onMischief(signal === 'SIGKILL' ? 'kill' : 'pause');
    });
    const code = await ended;
    clearTimeout(timer);
    over.abort();
    await harm;
    if (mischief === null && code === 0) this.#typicalMs = 0.8 * this.#typicalMs + 0.2 * (now() - startedAt);
    // A signal ended it.
    if (code === null) return { outcome: 'unknown', error: null, endedAt: now() };
    const value = parsed(stdout);
    if (value === undefined) {
      onBadAnswer(`git-mesh ${line.join(' ')}: exit ${code}, stdout is no JSON document\n${stdout}\n${stderr}`);
      return { outcome: 'unknown', error: stderr, endedAt: now() };
    }
    // An exchange that failed has its exit code and yet its whole result, and so has a look that found something.
    const done =
      code === 0 || (command === 'sync' && 'queued' in value) || (command === 'doctor' && 'problems' in value);
    if (!done) {
      return refused((value as Partial<ErrorResult>).error, (text) => {
        onBadAnswer(`git-mesh ${line.join(' ')}: exit ${code}, ${text}`);
      });
    }
    // What the command prints after its documentation; the checker compares it with what was asked for.
    return { outcome: 'accepted', value: value as CommandResults[C], endedAt: now() };
  }

  async #harm(
    mischief: Mischief | null,
    over: AbortSignal,
    signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void,
  ): Promise<void> {
    if (mischief === null) return;
    try {
      await sleep(mischief.part * this.#typicalMs * 1.2, undefined, { signal: over });
      if (mischief.how === 'kill') {
        signal('SIGKILL');
        return;
      }
      signal('SIGSTOP');
      await sleep(mischief.ms, undefined, { signal: over });
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    }
    if (mischief.how === 'pause') signal('SIGCONT');
  }
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
