import { join } from 'node:path';
import type { Logger, Store } from '@git-mesh/core';
import { watchPaths } from './watch.js';
import type { PathWatch } from './watch.js';

/**
 * Watches what results are made of: the accepted branches, the journal, the sessions here, and what is known of the
 * remotes and of the worker. Ends with `closed` at the latest.
 */
export function storeWatch(options: {
  store: Store;
  listener: () => void;
  closed: AbortSignal;
  logger: Logger;
}): PathWatch {
  const { store, listener, closed, logger } = options;
  const prefix = store.config.ref_prefix.split('/').filter((part) => part !== '');
  const local = (name: string): string => join(store.dir, 'mesh', name);
  const watch = watchPaths({
    paths: [
      join(store.dir, ...prefix),
      store.journal.file,
      ...['sessions', 'remotes', 'worker.json', 'config.json'].map(local),
    ],
    onChange: listener,
    logger,
  });
  const close = (): void => {
    closed.removeEventListener('abort', close);
    watch.close();
  };
  if (closed.aborted) watch.close();
  else closed.addEventListener('abort', close, { once: true });
  return { ready: watch.ready, close };
}
