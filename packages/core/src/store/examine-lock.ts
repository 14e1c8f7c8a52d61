import type { Problem } from '../domain/results.js';
import type { Fs } from './fs.js';
import { unnamedAfterMs } from './holder-locks.js';
import { provenDead } from './identity.js';
import { readLock } from './lock-file.js';

/** So long a command waits for it before it gives up. */
const longHeldMs = 15_000;

/** What is wrong with a lock: one that names nobody, or whose holder keeps it for long. `shown` is its path for people. */
export async function examineLock(fs: Fs, path: string, shown: string): Promise<Problem[]> {
  const state = await readLock(fs, path);
  const now = Date.now();
  switch (state.kind) {
    case 'free':
      return [];
    case 'unnamed':
      return [
        {
          kind: 'lock_unnamed',
          path: shown,
          message: `${shown} names no process: a crash or another program left it, and nothing can be stored meanwhile`,
          fix: `it is taken over at ${new Date(state.mtimeMs + unnamedAfterMs).toISOString()}; sooner by removing it by hand, if no git-mesh and no git works on this store`,
        },
      ];
    case 'held': {
      const { identity, since } = state.holder;
      // A dead holder's lock is passed on at once: nothing is wrong.
      if (now - since < longHeldMs || (await provenDead(identity))) return [];
      return [
        {
          kind: 'store_locked',
          path: shown,
          message: `${shown} is held by process ${identity.pid} since ${new Date(since).toISOString()}`,
          fix: `look at process ${identity.pid}: one that is stopped (Ctrl-Z, a debugger) keeps the lock; let it go on or end it. One in another container cannot be checked from here: remove ${shown} only when it has ended`,
        },
      ];
    }
  }
}
