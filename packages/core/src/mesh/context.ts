import type { Clock, RandomBytes } from '../domain/clock.js';
import type { Syncer } from '../domain/syncer.js';
import type { Logger } from '../logger.js';
import type { Store } from '../store/store.js';
import type { Branches } from './branches.js';

/** What every use case works on. */
export interface MeshContext {
  readonly store: Store;
  readonly branches: Branches;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly syncer: Syncer;
  readonly logger: Logger;
  readonly platform: string;
}
