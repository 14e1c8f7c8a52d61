import type { Journal, Logger } from '@git-mesh/core';
import { watchPaths } from './watch.js';

/**
 * Resolves when the journal's file changes, when the time is over, or when a signal fires: whoever waits looks again
 * for itself. Another process may be the one that appends.
 */
export function arrivalOf(options: {
  journal: Journal;
  /** The number that the caller has seen: what came since ends the wait at once. */
  beyond: number;
  timeoutMs: number;
  signal?: AbortSignal;
  closed: AbortSignal;
  logger: Logger;
}): Promise<void> {
  const { journal, beyond, timeoutMs, closed, logger } = options;
  const signals = [closed, ...(options.signal === undefined ? [] : [options.signal])];
  if (signals.some((signal) => signal.aborted)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const watch = watchPaths({ paths: [journal.file], onChange: done, logger });
    const timer = setTimeout(done, timeoutMs);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
    // Only now that it is watched: what was appended between the caller's look and here must not be missed.
    const look = watch.ready.then(() => journal.view());
    look.then(
      (view) => {
        if (view.highest > beyond) done();
      },
      (error: unknown) => {
        reject(error instanceof Error ? error : new Error(String(error)));
        done();
      },
    );
    function done(): void {
      watch.close();
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
