import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Look, PlannedSend } from './machine-day.js';

/** What a process of machines is asked for, and by how much its clock is behind the real one meanwhile. */
export type Task = { behindMs: number } & (
  | { do: 'add'; root: string; remote: string; handle: string; isFirst: boolean }
  | { do: 'look'; look: Look }
  | { do: 'send'; sends: (PlannedSend & { behindMs: number })[] }
  | { do: 'sync'; handle: string }
  | { do: 'reopen' }
  | { do: 'close' }
);

/** Some machines in a process of their own; it does one task at a time. */
export class MachineProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'machine-process.js'), { serialization: 'advanced' });
  }

  /**
   * @returns the milliseconds that it took there.
   * @throws Error with the stack of what failed there.
   */
  async ask(task: Task): Promise<number> {
    const ended = new AbortController();
    const exit = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('a process of machines has ended');
    });
    const answer = once(this.#child, 'message', { signal: ended.signal });
    this.#child.send(task);
    try {
      const [said] = (await Promise.race([answer, exit])) as [{ ms: number } | { error: string }];
      if ('error' in said) throw new Error(said.error);
      return said.ms;
    } finally {
      exit.catch(() => undefined);
      answer.catch(() => undefined);
      ended.abort();
    }
  }

  end(): void {
    this.#child.disconnect();
  }
}
