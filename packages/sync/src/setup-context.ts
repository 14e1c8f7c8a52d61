import { Branches } from '@git-mesh/core';
import type { MeshContext, Store } from '@git-mesh/core';

/** A store on its own: one that nobody else has seen yet has no synchronisation. By the store's own clock. */
export function setupContext(store: Store): MeshContext {
  const { clock, random, logger } = store;
  return {
    store,
    branches: new Branches(store),
    clock,
    random,
    logger,
    platform: process.platform,
    syncer: {
      round: () => Promise.resolve(),
      summary: () => Promise.resolve({ state: 'none', last_ok_at: null, queued: 0, error: null }),
      takeIn: () => Promise.resolve(),
      workerAlive: () => Promise.resolve(false),
      arrival: () => Promise.resolve(),
    },
  };
}
