import type { MeshContext } from './context.js';
import { Run } from './run.js';
import { locked } from './write.js';
import type { Locked } from './run.js';

/** How many commits become durable together: the first of them waits for the last. */
const maxRun = 32;

interface Waiting {
  /** Does its part of the run, and gives what settles its promise once all of the run is durable. */
  decide(run: Run): Promise<{ resolve(): void; reject(reason: unknown): void }>;
  reject(reason: unknown): void;
}

/**
 * Lets what waits for the store lock in this process share one: the commits of all of it become durable with one pack and
 * one move of the branch, before any of it is answered. Alone, it is what {@link locked} is.
 */
export class SendQueue {
  readonly #ctx: MeshContext;
  readonly #waiting: Waiting[] = [];
  #isDraining = false;

  constructor(ctx: MeshContext) {
    this.#ctx = ctx;
  }

  /** @throws what {@link locked} throws, and `decide`: its commits are taken back then, those of others are not. */
  async run<T>(decide: (state: Locked) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        decide: async (run) => {
          const value = await run.attempt(decide);
          return {
            resolve: () => {
              resolve(value);
            },
            reject,
          };
        },
        reject,
      });
      if (!this.#isDraining) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#waiting.length > 0) {
      const before = [...this.#waiting];
      try {
        await locked(this.#ctx, (state) => this.#together(state));
      } catch (error) {
        // No lock, no run: whoever waited for this one has waited long enough.
        for (const each of before) {
          const at = this.#waiting.indexOf(each);
          if (at !== -1) this.#waiting.splice(at, 1);
          each.reject(error);
        }
      }
    }
    this.#isDraining = false;
  }

  async #together(state: Locked): Promise<void> {
    const run = await Run.begin(this.#ctx, state);
    const done: { resolve(): void; reject(reason: unknown): void }[] = [];
    for (let taken = 0; taken < maxRun; taken++) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      try {
        done.push(await next.decide(run));
      } catch (error) {
        next.reject(error);
      }
    }
    try {
      await run.publish();
    } catch (error) {
      // An answer that makes no commit may rest on one that was not made.
      for (const each of done) each.reject(error);
      return;
    }
    for (const each of done) each.resolve();
  }
}
