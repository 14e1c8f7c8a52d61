import type { EpochMillis, StoreConfig } from '@git-mesh/core';
import { nextCarryAt } from './carry.js';
import { exchangeWith, lacksOwnTip } from './exchange.js';
import { movedThere } from './moved-there.js';
import type { ExchangeDependencies, RoundOptions } from './exchange.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { prepare, round } from './round.js';
import { RoundQueue } from './round-queue.js';

export type Wanted = Omit<RoundOptions, 'signal'>;

export interface RoundsOptions extends ExchangeDependencies {
  /** The ways to the remotes that the configuration names. */
  open: (remotes: StoreConfig['remotes']) => Promise<Remote[]>;
  /** Ends every exchange when it fires. */
  closed: AbortSignal;
}

/** A remote with its turns: one exchange at a time, however many ask. */
interface Line {
  remote: Remote;
  queue: RoundQueue<Wanted>;
}

/**
 * The rounds of one process: each remote has its own line, so that one that hangs keeps nobody waiting who does not
 * wait for it. Remotes that another process adds or removes are taken in with the next round.
 */
export class Rounds {
  readonly #options: RoundsOptions;
  #lines = new Map<string, Line>();
  #opened: string | null = null;
  #refreshing: Promise<unknown> = Promise.resolve();

  private constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** @throws MeshError `invalid_argument` for a remote that cannot be used. */
  static async open(options: RoundsOptions): Promise<Rounds> {
    const rounds = new Rounds(options);
    await rounds.#reopen(options.mesh.store.config.remotes);
    return rounds;
  }

  get remotes(): readonly Remote[] {
    return [...this.#lines.values()].map(({ remote }) => remote);
  }

  /** Takes in what changed in the configuration; true where something did. What cannot be read or used changes nothing. */
  async refresh(): Promise<boolean> {
    const { store, logger } = this.#options.mesh;
    const run = this.#refreshing.then(async () => {
      try {
        return await this.#reopen(await store.refreshRemotes());
      } catch (error) {
        logger.warn(`the remotes in the configuration are not taken in: ${plainMessage(error)}`);
        return false;
      }
    });
    this.#refreshing = run;
    return run;
  }

  /** A round with every remote, or with those of these names. Never throws for a remote's failure. */
  async run(wanted: Wanted, names?: readonly string[]): Promise<void> {
    await this.refresh();
    const remotes = this.remotes.filter(({ name }) => names?.includes(name) ?? true);
    const options = { ...wanted, signal: this.#options.closed };
    await round({ ...this.#options, remotes, pass: (remote, now) => this.pass(remote, now) }, options);
  }

  /** See {@link prepare}. */
  prepare(): Promise<void> {
    return prepare(this.#options);
  }

  /** One exchange with one remote, after the one that is under way. */
  async pass(remote: Remote, { deadlineMs, ignoreBackoff }: Wanted): Promise<void> {
    await this.#lines.get(remote.name)?.queue.run({ deadlineMs, ignoreBackoff });
  }

  /** Whether the last exchange with it left work that it had no time for. */
  isUnfinished({ name }: Remote): boolean {
    return this.#options.states.isUnfinished(name);
  }

  /** See {@link lacksOwnTip}. */
  lacksOwnTip(remote: Remote): Promise<boolean> {
    return lacksOwnTip(this.#options, remote);
  }

  /** See {@link movedThere}. */
  movedThere(remote: Remote): Promise<boolean> {
    return movedThere(this.#options, remote);
  }

  /** When the next branch of another machine is to be carried there; null where none is, or the remote is not asked now. */
  async carryAt({ name }: Remote): Promise<EpochMillis | null> {
    const state = await this.#options.states.get(name);
    return state?.error === null ? nextCarryAt(state.behind ?? []) : null;
  }

  /** Resolves when no exchange is under way any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(({ queue }) => queue.idle()));
  }

  async #reopen(configured: StoreConfig['remotes']): Promise<boolean> {
    const text = JSON.stringify(configured);
    if (text === this.#opened) return false;
    const lines = new Map<string, Line>();
    for (const remote of await this.#options.open(configured)) {
      const before = this.#lines.get(remote.name);
      // A remote that stays keeps its line, and with it the exchange that is under way.
      if (before?.remote.url === remote.url) lines.set(remote.name, before);
      else lines.set(remote.name, this.#line(remote));
    }
    for (const { remote } of this.#lines.values()) {
      if (lines.get(remote.name)?.remote !== remote) this.#options.states.forget(remote.name);
    }
    this.#lines = lines;
    this.#opened = text;
    return true;
  }

  #line(remote: Remote): Line {
    const queue = new RoundQueue<Wanted>(
      (wanted) => exchangeWith(this.#options, remote, { ...wanted, signal: this.#options.closed }),
      (a, b) => ({
        deadlineMs: Math.max(a.deadlineMs, b.deadlineMs),
        ignoreBackoff: a.ignoreBackoff || b.ignoreBackoff,
      }),
    );
    return { remote, queue };
  }
}
