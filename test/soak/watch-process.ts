import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, isStopped } from '../process-state.js';
import type { ProcessOptions, ResidentProcess } from './resident-process.js';

/** How long a worker has to end after SIGTERM: an exchange with a slow remote is given up within 25 s. */
const stopLimitMs = 30_000;

interface Running {
  child: ChildProcess;
  ended: Promise<void>;
  isKilled: boolean;
}

/** `git-mesh sync --watch` of a machine. */
export class WatchProcess implements ResidentProcess {
  readonly name: string;
  readonly #options: ProcessOptions;
  #now: Running | null = null;

  constructor(name: string, options: ProcessOptions) {
    this.name = name;
    this.#options = options;
  }

  start(): Promise<void> {
    const { launcher, cwd, env, log } = this.#options;
    const stderr = openSync(log, 'a');
    const child = spawn(process.execPath, [launcher, 'sync', '--watch'], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', stderr],
    });
    closeSync(stderr);
    const running: Running = { child, ended: Promise.resolve(), isKilled: false };
    running.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (!running.isKilled) {
          this.#options.onUnexpectedEnd(`${this.name} ended by itself (${code ?? signal ?? '?'}); see ${log}`);
        }
        resolve();
      });
    });
    this.#now = running;
    return Promise.resolve();
  }

  get pid(): number | null {
    const child = this.#now?.child;
    return child?.exitCode === null && child.signalCode === null ? (child.pid ?? null) : null;
  }

  async kill(): Promise<boolean> {
    if (this.pid === null || this.#now === null || this.#now.isKilled) return false;
    this.#now.isKilled = true;
    this.#now.child.kill('SIGKILL');
    await this.#now.ended;
    return true;
  }

  signal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
    return this.pid === pid && this.#now?.child.kill(signal) === true;
  }

  async nextCall(): Promise<void> {
    // It takes no calls: any moment is as good.
  }

  isWell(): Promise<boolean> {
    const { pid } = this;
    return Promise.resolve(pid !== null && isRunning(pid) && !isStopped(pid));
  }

  async stop(): Promise<void> {
    if (this.pid === null || this.#now === null) return;
    const { child, ended } = this.#now;
    this.#now.isKilled = true;
    child.kill('SIGTERM');
    const late = sleep(stopLimitMs, 'late' as const, { ref: false });
    if ((await Promise.race([ended, late])) !== 'late') return;
    this.#options.onBadAnswer(`${this.name} did not end within ${stopLimitMs} ms of SIGTERM`);
    child.kill('SIGKILL');
    await ended;
  }
}
