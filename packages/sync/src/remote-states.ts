import type { LocalState, Oid, RefName, RemoteState } from '@git-mesh/core';

/** A success that only moves `last_ok_at` is written no more often than this. */
const writeEveryMs = 5_000;

interface Known {
  state: RemoteState;
  /** Not written yet. */
  fresh: boolean;
}

/**
 * What the last exchanges with each remote were like, as the process that exchanged last tells: this one keeps its own
 * in memory, until another has written.
 */
export class RemoteStates {
  readonly #local: LocalState;
  readonly #known = new Map<string, Known>();
  /** What was on disk when this process last looked or wrote. */
  readonly #stored = new Map<string, string>();

  /** What each remote had when this process last looked, with what was pushed there since. */
  readonly #seen = new Map<string, Map<RefName, Oid>>();
  readonly #unfinished = new Set<string>();

  constructor(local: LocalState) {
    this.#local = local;
  }

  async get(name: string): Promise<RemoteState | null> {
    const known = this.#known.get(name);
    if (known?.fresh === true) return known.state;
    const stored = await this.#local.remote(name);
    if (stored === null) return known?.state ?? null;
    const text = JSON.stringify(stored);
    if (known !== undefined && text === this.#stored.get(name)) return known.state;
    this.#stored.set(name, text);
    const mine = known?.state.last_ok_at ?? null;
    const later = mine !== null && mine > (stored.last_ok_at ?? '') ? mine : stored.last_ok_at;
    const state = { ...stored, last_ok_at: later };
    this.#known.set(name, { state, fresh: false });
    return state;
  }

  set(name: string, state: RemoteState): void {
    this.#known.set(name, { state, fresh: true });
  }

  /** Everything that a remote was last seen to have; null where this process has not looked yet. */
  seen(name: string): ReadonlyMap<RefName, Oid> | null {
    return this.#seen.get(name) ?? null;
  }

  see(name: string, refs: ReadonlyMap<RefName, Oid>): void {
    this.#seen.set(name, new Map(refs));
  }

  /** After a push: the remote has `oid` there. */
  seeRef(name: string, ref: RefName, oid: Oid): void {
    this.#seen.get(name)?.set(ref, oid);
  }

  /** Whether the last exchange left work that it had no time for. In memory only: the next one finds out anew. */
  isUnfinished(name: string): boolean {
    return this.#unfinished.has(name);
  }

  setUnfinished(name: string, unfinished: boolean): void {
    if (unfinished) this.#unfinished.add(name);
    else this.#unfinished.delete(name);
  }

  /** For a remote that is no longer one of ours. Nothing of it is written any more. */
  forget(name: string): void {
    this.#known.delete(name);
    this.#stored.delete(name);
    this.#seen.delete(name);
    this.#unfinished.delete(name);
  }

  /** Writes what changed. The bare passing of time is written seldom. */
  async flush(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const known = this.#known.get(name);
      if (known?.fresh !== true) continue;
      const { state } = known;
      const stored = await this.#local.remote(name);
      const timeOnly = stored !== null && withoutTime(stored) === withoutTime(state);
      if (!timeOnly || okAt(state) - okAt(stored) >= writeEveryMs) {
        await this.#local.putRemote(name, state);
        this.#stored.set(name, JSON.stringify(state));
      } else {
        this.#stored.set(name, JSON.stringify(stored));
      }
      known.fresh = false;
    }
  }
}

const withoutTime = (state: RemoteState): string => JSON.stringify({ ...state, last_ok_at: null });

const okAt = ({ last_ok_at: at }: RemoteState): number => (at === null ? 0 : Date.parse(at));
