import type { LocalState, RemoteState } from '@git-mesh/core';

/** A success that only moves `last_ok_at` is written no more often than this. */
const writeEveryMs = 5_000;

/** What the last exchanges with each remote were like: this process's own, else what another process wrote. */
export class RemoteStates {
  readonly #local: LocalState;
  readonly #known = new Map<string, RemoteState>();
  readonly #written = new Map<string, { text: string; at: number }>();

  constructor(local: LocalState) {
    this.#local = local;
  }

  /** The later of what this process knows and what is on disk. */
  async get(name: string): Promise<RemoteState | null> {
    const mine = this.#known.get(name);
    const stored = await this.#local.remote(name);
    if (mine === undefined || stored === null) return mine ?? stored;
    return (stored.last_ok_at ?? '') > (mine.last_ok_at ?? '') ? stored : mine;
  }

  set(name: string, state: RemoteState): void {
    this.#known.set(name, state);
  }

  /** Writes what changed. The bare passing of time is written seldom. */
  async flush(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const state = this.#known.get(name);
      if (state === undefined) continue;
      const text = JSON.stringify({ ...state, last_ok_at: null });
      const last = this.#written.get(name);
      const at = state.last_ok_at === null ? 0 : Date.parse(state.last_ok_at);
      if (last?.text === text && at - last.at < writeEveryMs) continue;
      await this.#local.putRemote(name, state);
      this.#written.set(name, { text, at });
    }
  }
}
