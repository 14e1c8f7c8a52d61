import type { JournalEntry, JournalView } from '../store/ports.js';
import { CommitRun } from '../store/commit.js';
import type { BranchCommit } from '../store/commit.js';
import { arrivalsOf } from './arrivals.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { isDiskTrouble } from './disk-trouble.js';
import { withEntries } from './journal-overlay.js';

/** The state of the store as one holder of its lock sees it. */
export interface Locked {
  branch: Branch;
  journal: JournalView;
  /** Of which the next commits are a part; without it each is durable by itself. */
  run?: Run;
}

/** Runs `work`, whose commits become durable together when it is done; where it fails none is made. Caller holds the lock. */
export async function together(
  ctx: MeshContext,
  state: Locked,
  work: (state: Locked) => Promise<unknown>,
): Promise<Locked> {
  const run = await Run.begin(ctx, state);
  try {
    await work(run.state);
  } catch (error) {
    run.discard();
    throw error;
  }
  return run.publish();
}

/** Commits that become durable together, with what they mean for the journal. */
export class Run {
  readonly #ctx: MeshContext;
  readonly #commits: CommitRun;
  #state: Locked;
  #entries: JournalEntry[] = [];

  private constructor(ctx: MeshContext, commits: CommitRun, state: Locked) {
    this.#ctx = ctx;
    this.#commits = commits;
    this.#state = { ...state, run: this };
  }

  static async begin(ctx: MeshContext, state: Locked): Promise<Run> {
    return new Run(ctx, await CommitRun.begin(ctx.store), state);
  }

  /** The store as its newest commit leaves it. */
  get state(): Locked {
    return this.#state;
  }

  async commit(change: BranchCommit): Promise<Locked> {
    const { store, branches } = this.#ctx;
    const { tip } = await this.#commits.commit(change);
    if (tip === null) throw new Error('a branch with a state has a tip');
    const branch = await branches.at(branches.own, tip);
    const entries = await arrivalsOf(store, branch, this.#state.journal, change.at);
    this.#entries.push(...entries);
    this.#state = { branch, journal: withEntries(this.#state.journal, entries), run: this };
    return this.#state;
  }

  /** Runs `work`; where it fails, the commits that it made are taken back. */
  async attempt<T>(work: (state: Locked) => Promise<T>): Promise<T> {
    const [mark, state, entries] = [this.#commits.mark(), this.#state, this.#entries.length];
    try {
      return await work(state);
    } catch (error) {
      this.#commits.rewind(mark);
      this.#state = state;
      this.#entries.length = entries;
      throw error;
    }
  }

  discard(): void {
    this.#commits.discard();
  }

  /** @throws MeshError as {@link CommitRun.publish} does; then none of the commits was made. */
  async publish(): Promise<Locked> {
    await this.#commits.publish();
    return { branch: this.#state.branch, journal: await this.#journal() };
  }

  /**
   * The commits are made: a disk that takes nothing more right after them must not make a failure of it, or the caller would
   * send again what is stored. The next holder of the lock journals them, under the numbers that the commits name.
   */
  async #journal(): Promise<JournalView> {
    if (this.#entries.length === 0) return this.#state.journal;
    try {
      // Not durable by itself: the own branch is, and what is lost here is found on it again.
      return await this.#ctx.store.journal.append(this.#entries, { durable: false });
    } catch (error) {
      if (!isDiskTrouble(error)) throw error;
      this.#ctx.logger.warn(`the journal could not be written, which is made up for later: ${error.message}`);
      return this.#state.journal;
    }
  }
}
