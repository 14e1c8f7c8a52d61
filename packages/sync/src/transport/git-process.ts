import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { MeshError } from '@git-mesh/core';

/** Enough for any message; the rest is read (so that the child does not block) and dropped. */
const maxStderr = 16_384;

export interface ProcessEnd {
  /** Null where a signal ended it. */
  status: number | null;
  signal: string | null;
  /** Set where it could not be started at all, as with ENOENT. */
  startError: NodeJS.ErrnoException | null;
}

export interface GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once the process is reaped and its pipes are closed; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** What it wrote to stderr so far, the first 16 KiB. */
  stderr(): string;
  /** Ends the process and all that it started, at once. Safe to call twice and after its end. */
  kill(): void;
}

/**
 * Starts git with pipes for all three streams: nothing of a child ever reaches our own.
 * @throws MeshError `unreachable` where this process has no file descriptor left. Any other failure is told by `ended`.
 */
export function startGit(args: readonly string[], env: Readonly<Record<string, string>>): GitProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn('git', args, {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // Its own process group, so that hooks and helpers can be ended with it.
    detached: process.platform !== 'win32',
  });
  // Where no file descriptor is left Node gives a child without streams, which its types do not say.
  if ((child.stdout as Readable | undefined) === undefined) {
    child.on('error', () => undefined);
    throw new MeshError('unreachable', 'git could not be started: too many files are open in this process');
  }
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (words.length < maxStderr) words = (words + text).slice(0, maxStderr);
  });
  // A child that ends early breaks the pipe: its exit status tells more than EPIPE does.
  child.stdin.on('error', () => undefined);
  child.stderr.on('error', () => undefined);

  let over = false;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (startError) => {
      over = true;
      // A process that did not start has no "close".
      if (child.pid === undefined) resolve({ status: null, signal: null, startError });
    });
    child.once('close', (status, signal) => {
      over = true;
      resolve({ status, signal, startError: null });
    });
  });

  return {
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    stderr: () => words,
    kill: () => {
      if (over || child.pid === undefined) return;
      killTree(child.pid);
      // A grandchild outside the group could hold the pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
    },
  };
}

function killTree(pid: number): void {
  if (process.platform === 'win32') {
    const killer = spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    killer.on('error', () => undefined);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Already gone.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
