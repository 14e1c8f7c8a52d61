import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for the running test, removed at its end, after the processes that were started later. */
export function scratch(): string {
  const root = mkdtempSync(join(tmpdir(), 'mesh-test-'));
  onTestFinished(() => {
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  return root;
}

/** Kills the process at the end of the running test, if it still runs, and waits until it is gone. */
export function endWithTest(child: ChildProcess): void {
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  });
}
