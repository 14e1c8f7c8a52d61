/** The longest that a timer holds. */
const maxTimerMs = 2 ** 31 - 1;

export interface ChangeLooksOptions {
  /** Looks, and gives the time (milliseconds since 1970) at which to look again though nothing changes; null for none. */
  look: () => Promise<number | null>;
  /** At least so long between the end of one look and the next, in milliseconds. */
  gapMs: number;
  now: () => number;
  /** What a look failed with; the next change looks again. */
  onError: (error: unknown) => void;
}

/** Looks after changes, one look at a time, however many changes come. Keeps no process alive. */
export class ChangeLooks {
  readonly #options: ChangeLooksOptions;
  #timer: NodeJS.Timeout | null = null;
  #dueAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #closed = false;

  constructor(options: ChangeLooksOptions) {
    this.#options = options;
  }

  /** Something may have changed. */
  changed(): void {
    this.#at(this.#options.now() + this.#options.gapMs);
  }

  /** Something ends at that time (milliseconds since 1970), though nothing changes. */
  ends(time: number): void {
    const { now, gapMs } = this.#options;
    // What ends at a moment has ended just after it.
    this.#at(Math.max(time + 1, now() + gapMs));
  }

  /** No look begins after it; resolves once the last one has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unset();
    await this.#looking;
  }

  #unset(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #at(time: number): void {
    if (this.#closed || time >= this.#dueAt) return;
    this.#unset();
    this.#dueAt = time;
    const inMs = Math.min(Math.max(0, time - this.#options.now()), maxTimerMs);
    this.#timer = setTimeout(() => {
      this.#unset();
      this.#begin();
    }, inMs).unref();
  }

  #begin(): void {
    // The look under way may have passed what changed now: another follows it.
    if (this.#looking !== null) {
      void this.#looking.then(() => {
        this.changed();
      });
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
    });
  }

  async #look(): Promise<void> {
    const { look, onError } = this.#options;
    try {
      const again = await look();
      if (again !== null) this.ends(again);
    } catch (error) {
      onError(error);
    }
  }
}
