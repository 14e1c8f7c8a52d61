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
  return new Promise((resolve, reject) => {
    const watch = watchPaths({ paths: [options.journal.file], onChange: done, logger: options.logger });
    const timer = setTimeout(done, options.timeoutMs);
    const signals = [options.signal, options.closed];
    for (const signal of signals) {
      if (signal?.aborted === true) done();
      signal?.addEventListener('abort', done, { once: true });
    }
    // Only now that it is watched: what was appended between the caller's look and here must not be missed.
    options.journal.view().then((view) => {
      if (view.highest > options.beyond) done();
    }, reject);
    function done(): void {
      watch.close();
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}
