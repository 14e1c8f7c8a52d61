import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { visibleText } from '@git-mesh/core';
import type { Env } from './git-env.js';

/** Herdr answers from a socket on this machine: what takes longer hangs. */
export const herdrTimeoutMs = 5_000;
/** The rest is read, so that the process does not block, and dropped. */
const maxOutput = 65_536;

export type HerdrAnswer = { ok: true; stdout: string } | { ok: false; reason: string };

/**
 * Runs `herdr` with exactly these arguments, without a shell and with nothing on stdin, and ends it with all that it
 * started once the time is over. Not for Windows.
 * Rejects only for what can be no argument or environment (a NUL).
 */
export function runHerdr(args: readonly [string, ...string[]], env: Env, timeoutMs: number): Promise<HerdrAnswer> {
  return new Promise((resolve) => {
    // Its own process group, so that whatever it starts can be ended with it.
    const child = spawn('herdr', args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    // Where no file descriptor is left Node gives a child without streams, which its types do not say.
    if ((child.stdout as Readable | undefined) === undefined) {
      child.once('error', () => undefined);
      resolve({ ok: false, reason: 'herdr does not start: too many files are open in this process' });
      return;
    }
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout = (stdout + text).slice(0, maxOutput)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(0, maxOutput)));
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) killGroup(child.pid);
      // A grandchild outside the group could hold the pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const missing = error.code === 'ENOENT';
      const why = missing ? 'there is no herdr on the PATH' : `herdr does not start (${error.code ?? error.message})`;
      resolve({ ok: false, reason: why });
    });
    child.once('close', (status, signal) => {
      clearTimeout(timer);
      if (timedOut) resolve({ ok: false, reason: `herdr did not answer within ${timeoutMs / 1000} s and was ended` });
      else if (status === 0) resolve({ ok: true, stdout });
      else resolve({ ok: false, reason: `herdr ended with ${status ?? signal ?? '?'}: ${shown(stderr)}` });
    });
  });
}

const shown = (stderr: string): string => visibleText(stderr.trim(), { maxLength: 200 });

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Already gone.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
