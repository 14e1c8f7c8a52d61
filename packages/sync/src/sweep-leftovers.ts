import type { Logger, Store } from '@git-mesh/core';
import { plainMessage } from './redact.js';

/** Removes what killed processes left in and beside the store. */
export async function sweepLeftovers(store: Store, logger: Logger): Promise<void> {
  try {
    const removed = await store.sweep();
    if (removed > 0) logger.debug(`removed ${removed} leftovers of processes that were killed`);
  } catch (error) {
    // Whatever it is, it keeps no round from its work, which tells a full or broken disk better than this.
    logger.warn(`leftovers of killed processes could not be removed: ${plainMessage(error)}`);
  }
}
