import { setTimeout as sleep } from 'node:timers/promises';
import { stockGit } from '../stock-git.js';
import { now } from './answer.js';
import { inTurns } from './drain.js';
import type { FaultFound } from './ledger.js';
import { age, ageGitLocks, gitLocks, processesOf, strays } from './leftovers.js';
import type { SoakMachine } from './machine.js';
import type { SoakRemote } from './remote.js';

export interface ExamineOptions {
  machines: readonly SoakMachine[];
  remote: SoakRemote;
  /** What tells this soak's processes from all others. */
  mark: string;
  root: string;
  /** Some machine's clock is wrong. */
  isSkewed: boolean;
  fault: (kind: FaultFound, text: string) => void;
}

/** Git's own processes end when they see that whoever started them is gone. */
const goneLimitMs = 35_000;

/** Looks at the stores and the remote as files and processes, with nothing at work on them any more. */
export async function examine(options: ExamineOptions): Promise<void> {
  const { machines, remote, fault } = options;
  for (const { pid, command } of await processesLeft(options)) fault('process left', `${pid} ${command}`);
  for (const repository of [...machines.map(({ store }) => store), remote.path]) {
    const text = fsck(repository);
    if (text !== null) fault('store', `git fsck --strict of ${repository}: ${text}`);
  }
  for (const line of remote.forcedUpdates()) fault('forced push', line);
  ageGitLocks(remote.path, { stillMs: 0 });
  await inTurns(machines, 3, (machine) => examineStore(machine, options));
  for (const path of gitLocks(remote.path)) fault('leftover', path);
}

async function processesLeft({ mark, root }: ExamineOptions): Promise<{ pid: number; command: string }[]> {
  const until = now() + goneLimitMs;
  for (;;) {
    const left = processesOf({ mark, root });
    if (left.length === 0 || now() > until) return left;
    await sleep(200);
  }
}

/** What git finds wrong; null where nothing. */
function fsck(repository: string): string | null {
  try {
    stockGit(['--git-dir', repository, 'fsck', '--strict', '--no-dangling']);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function examineStore(
  { handle, store, commands }: SoakMachine,
  { fault, isSkewed }: ExamineOptions,
): Promise<void> {
  age(strays(store), store);
  const sync = await commands.run(['sync']);
  if (sync.outcome !== 'accepted') fault('store', `sync on ${handle}: ${sync.error ?? 'killed'}`);
  for (const path of strays(store)) fault('leftover', path);
  const doctor = await commands.run(['doctor']);
  if (doctor.outcome !== 'accepted') {
    fault('store', `doctor on ${handle}: ${doctor.error ?? 'killed'}`);
    return;
  }
  for (const problem of doctor.value.problems) {
    // Of a wrong clock it speaks rightly.
    if (isSkewed && problem.kind.startsWith('clock_')) continue;
    fault('store', `doctor on ${handle}: ${JSON.stringify(problem)}`);
  }
}
