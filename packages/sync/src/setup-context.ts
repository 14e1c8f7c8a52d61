import { Branches } from '@git-mesh/core';
import type { MeshContext, Store } from '@git-mesh/core';
import type { OpenOptions } from './contract.js';
import { clock, random } from './system.js';

/** A store that nobody else has seen yet has no synchronisation of its own. */
export function setupContext(store: Store, { logger }: Pick<OpenOptions, 'logger'>): MeshContext {
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
      workerAlive: () => Promise.resolve(false),
      arrival: () => Promise.resolve(),
    },
  };
}
