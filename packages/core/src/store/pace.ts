import { setTimeout as sleep } from 'node:timers/promises';

/** Lets everything else in the process run between pieces of long work. */
export class Pace {
  readonly #sliceMs: number;
  readonly #pauseMs: number;
  readonly #signal: AbortSignal | undefined;
  #turnBegan = performance.now();

  /** Works for `sliceMs` at a time, and leaves `pauseMs` to others between: 0 for no longer than they ask for. */
  constructor({ sliceMs, pauseMs, signal }: { sliceMs: number; pauseMs: number; signal?: AbortSignal | undefined }) {
    this.#sliceMs = sliceMs;
    this.#pauseMs = pauseMs;
    this.#signal = signal;
  }

  /** To be awaited after every small piece. @throws the signal's reason once it is aborted. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#turnBegan < this.#sliceMs) return;
    if (this.#pauseMs > 0) await sleep(this.#pauseMs);
    else await new Promise((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#turnBegan = performance.now();
  }
}
