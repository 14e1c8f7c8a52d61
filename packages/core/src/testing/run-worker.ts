import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../src/testing/store-worker.mjs', import.meta.url));

export interface Worker {
  readonly process: ChildProcess;
  /** The next line it prints; null when it ends without one. */
  line(): Promise<string | null>;
  /** How it ended, with all that it printed on stderr. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

/** Starts the tests' worker process on the built package; `wrap` is put before its command line (strace…). */
export function startWorker(task: string, options: object, wrap: readonly string[] = []): Worker {
  const line = [...wrap, process.execPath, script, task, JSON.stringify(options)];
  const child = spawn(line[0] ?? process.execPath, line.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<Awaited<Worker['ended']>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stderr });
    });
  });
  return {
    process: child,
    ended,
    line: async () => {
      const next = await lines.next();
      return next.done === true ? null : next.value;
    },
  };
}
