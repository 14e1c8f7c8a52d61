import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, isErrno } from '@git-mesh/core';

/** Enough for any message. The end is kept, where the reason is: what comes before may be a banner of any length. */
const maxStderr = 16_384;
/** How long after its end a process's stderr may be held open by what it left behind, as ssh's shared connections do. */
const lingeringMs = 300;
/** What does not end when it is asked to is killed after this time, where its command gives no other. */
const graceMs = 500;
const groupPollMs = 20;

export interface ProcessEnd {
  /** Null where a signal ended it. */
  status: number | null;
  signal: string | null;
  /** Set where it could not be started at all, as with ENOENT. */
  startError: NodeJS.ErrnoException | null;
}

export interface ServiceProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once the process is reaped and its pipes are closed; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** What it wrote to stderr so far, the last 16 KiB. */
  stderr(): string;
  /**
   * Ends the process and all that it started: by the end of its input where its command says so, then asked to, so that
   * git takes its locks away with it, and by force once its command's grace is over. Until it is asked, what it still
   * says can be read. Safe to call twice and after its end.
   */
  kill(): void;
}

export interface Command {
  program: string;
  args: readonly string[];
  /** All of it: nothing of this process's own environment is added. */
  env: Readonly<Record<string, string>>;
  /**
   * Milliseconds that the process gets to end when asked, and what it started 500 more; where left out 500, and what is
   * left of it is killed with the process's own end.
   */
  graceMs?: number;
  /** Milliseconds that it gets to end by itself, its input being at its end, before it is asked to; where left out none. */
  finishMs?: number;
}

/**
 * Starts a program with pipes for all three streams: nothing of a child ever reaches our own, and having no terminal it
 * cannot ask anything there.
 * @throws MeshError `unreachable` where this process has no file descriptor left. Any other failure is told by `ended`.
 */
export function startService({ program, args, env, graceMs: patience, finishMs }: Command): ServiceProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, args, {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // Its own session: hooks and helpers can be ended with it, and no terminal is left to ask at.
    detached: process.platform !== 'win32',
  });
  // Where no file descriptor is left Node gives a child without streams, which its types do not say.
  if ((child.stdout as Readable | undefined) === undefined) {
    child.on('error', () => undefined);
    throw new MeshError('unreachable', `${program} could not be started: too many files are open in this process`);
  }
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-maxStderr);
  });
  // A child that ends early breaks the pipe: its exit status tells more than EPIPE does.
  child.stdin.on('error', () => undefined);
  child.stderr.on('error', () => undefined);

  const stop = (pid: number): Promise<void> => {
    const end = endTree(child, pid, patience);
    // A grandchild outside the group could hold the pipes open for ever.
    child.stdout.destroy();
    child.stderr.destroy();
    return end;
  };
  let over = false;
  let isEnding = false;
  let treeEnded: Promise<void> = Promise.resolve();
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (startError) => {
      over = true;
      // A process that did not start has no "close".
      if (child.pid === undefined) resolve({ status: null, signal: null, startError });
    });
    let lingering: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      lingering = setTimeout(() => {
        child.stderr.destroy();
      }, lingeringMs);
    });
    child.once('close', (status, signal) => {
      clearTimeout(lingering);
      over = true;
      void treeEnded.then(() => {
        resolve({ status, signal, startError: null });
      });
    });
  });

  return {
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    stderr: () => words,
    kill: () => {
      const { pid } = child;
      if (over || isEnding || pid === undefined) return;
      isEnding = true;
      child.stdin.destroy();
      if (finishMs === undefined) {
        treeEnded = stop(pid);
        return;
      }
      // This process may end sooner than that: nothing that hangs is left alone.
      const ask = (): void => void signalGroup(pid, 'SIGTERM');
      if (process.platform !== 'win32') process.once('exit', ask);
      treeEnded = endsWithin(child, finishMs).then(async () => {
        process.off('exit', ask);
        // With its pipes closed nothing of it is left, and the number of its group may be another's.
        if (!over) await stop(pid);
      });
    },
  };
}

/**
 * Runs a program that is asked nothing and whose output does not matter, to its end; ended at once when the signal
 * fires. Rejects only as {@link startService} throws.
 */
export async function runToEnd(command: Command, signal: AbortSignal): Promise<ProcessEnd> {
  const service = startService(command);
  const kill = (): void => {
    service.kill();
  };
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill, { once: true });
  service.stdout.on('error', () => undefined).resume();
  service.stdin.end();
  const end = await service.ended;
  signal.removeEventListener('abort', kill);
  return end;
}

/** Resolves once nothing of it is left, or was killed; where no patience is given, once that is under way. */
async function endTree(child: ChildProcess, pid: number, patience: number | undefined): Promise<void> {
  if (process.platform === 'win32') {
    // Nothing there can be asked to end. But the pipes are closed: a git that waits for more, or has something to say,
    // ends by that and takes its locks with it.
    if (patience === undefined || !(await endsWithin(child, patience))) forceWindows(pid);
    return;
  }
  signalGroup(pid, 'SIGTERM');
  if (patience === undefined) {
    const late = setTimeout(signalGroup, graceMs, pid, 'SIGKILL');
    // What it started and left behind has nothing to let go of.
    child.once('exit', () => {
      clearTimeout(late);
      signalGroup(pid, 'SIGKILL');
    });
    return;
  }
  // What it started may hold locks too, as the packing of refs after a push does.
  const leftMs = (await endsWithin(child, patience)) ? graceMs : 0;
  const until = performance.now() + leftMs;
  while (signalGroup(pid, 0) && performance.now() < until) await sleep(groupPollMs);
  signalGroup(pid, 'SIGKILL');
}

function forceWindows(pid: number): void {
  const killer = spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
  killer.on('error', () => undefined);
}

function endsWithin(child: ChildProcess, ms: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const late = setTimeout(resolve, ms, false);
    child.once('exit', () => {
      clearTimeout(late);
      resolve(true);
    });
  });
}

/** False where nothing of the group is left. Signal 0 only asks. */
function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // Already gone; macOS says EPERM of a group in which all have ended.
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error;
    return false;
  }
}
