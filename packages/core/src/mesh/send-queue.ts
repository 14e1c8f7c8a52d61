import type { MeshContext } from './context.js';
import { Run } from './run.js';
import { locked } from './write.js';
import type { Locked } from './run.js';

/** How many commits become durable together: the first of them waits for the last. */
const maxRun = 32;

/** What answers a call: once all of the run is durable, or cannot be. */
interface Settled {
  resolve(): void;
  reject(reason: unknown): void;
}

interface Waiting {
  /** Does its part of the run. */
  decide(run: Run): Promise<Settled>;
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
        const settle = await locked(this.#ctx, (state) => this.#together(state));
        // Nobody is answered while the lock is still held.
        settle();
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

  /** Gives what answers all that took part. */
  async #together(state: Locked): Promise<() => void> {
    const run = await Run.begin(this.#ctx, state);
    const done: Settled[] = [];
    for (let taken = 0; taken < maxRun; taken++) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      try {
        done.push(await next.decide(run));
      } catch (error) {
        done.push({
          resolve: () => {
            next.reject(error);
          },
          reject: () => {
            next.reject(error);
          },
        });
      }
    }
    try {
      await run.publish();
    } catch (error) {
      // An answer that makes no commit may rest on one that was not made.
      return () => {
        for (const each of done) each.reject(error);
      };
    }
    return () => {
      for (const each of done) each.resolve();
    };
  }
}
