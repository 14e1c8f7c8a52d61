/**
 * Runs one task at a time; callers that come while it runs share the next run, which began after they asked. So whoever
 * waits knows that what it stored before is covered.
 */
export class RoundQueue<Options> {
  readonly #task: (options: Options) => Promise<void>;
  readonly #merge: (a: Options, b: Options) => Options;
  #running: Promise<void> | null = null;
  #next: { options: Options; promise: Promise<void> } | null = null;

  constructor(task: (options: Options) => Promise<void>, merge: (a: Options, b: Options) => Options) {
    this.#task = task;
    this.#merge = merge;
  }

  run(options: Options): Promise<void> {
    if (this.#running === null) return this.#start(options);
    if (this.#next !== null) {
      this.#next.options = this.#merge(this.#next.options, options);
      return this.#next.promise;
    }
    const running = this.#running;
    const next = { options, promise: Promise.resolve() };
    next.promise = running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#start(next.options);
      });
    this.#next = next;
    return next.promise;
  }

  /** Resolves when nothing runs any more, however it ended. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running.catch(() => undefined);
  }

  #start(options: Options): Promise<void> {
    const run = this.#task(options).finally(() => {
      if (this.#running === run) this.#running = null;
    });
    this.#running = run;
    return run;
  }
}
