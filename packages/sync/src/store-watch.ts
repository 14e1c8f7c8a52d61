import { join } from 'node:path';
import type { Logger, Store } from '@git-mesh/core';
import { watchPaths } from './watch.js';

/** Watches all of a store that a view of the mesh is made of, until closed or `closed` aborts. */
export function storeWatch(options: { store: Store; closed: AbortSignal; onChange: () => void; logger: Logger }): {
  close(): void;
} {
  const { store, closed, onChange, logger } = options;
  const prefix = store.config.ref_prefix.split('/').filter((part) => part !== '');
  const watch = watchPaths({
    paths: [
      join(store.dir, ...prefix),
      store.journal.file,
      join(store.dir, 'mesh', 'config.json'),
      join(store.dir, 'mesh', 'remotes'),
    ],
    onChange,
    logger,
  });
  const close = (): void => {
    closed.removeEventListener('abort', close);
    watch.close();
  };
  if (closed.aborted) close();
  else closed.addEventListener('abort', close, { once: true });
  return { close };
}
