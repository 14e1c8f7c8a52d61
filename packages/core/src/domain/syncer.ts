import type { SyncSummary } from './results.js';

/** What the use cases need of synchronisation. core states the port; the sync package implements it. */
export interface Syncer {
  /**
   * Brings in what the remotes have and pushes what is queued, for at most `deadlineMs`. Never throws for a remote's
   * failure: that is reported by {@link Syncer.summary}. Safe to call at once from several places (callers share one round).
   */
  round(options: { deadlineMs: number }): Promise<void>;
  /** The state as this process last knew or another process last wrote it. No network. */
  summary(): Promise<SyncSummary>;
  /**
   * Takes in what is on this disk already and now counts, such as the branch of a machine that was admitted a moment ago,
   * with numbers for its messages. No network. Must not be called under the store lock.
   * @throws MeshError for what concerns this store: a full disk, a lock that is held.
   */
  takeIn(): Promise<void>;
  /** True while some live process holds this store's worker election. */
  workerAlive(): Promise<boolean>;
  /** Resolves when the journal may have gone beyond number `beyond`, or `signal` aborts; may resolve early. */
  arrival(options: { beyond: number; timeoutMs: number; signal?: AbortSignal }): Promise<void>;
}
