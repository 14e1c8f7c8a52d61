import { randomFrom } from '../random.js';

/** What a case is made from: the same seed makes the same case. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }

  /** A whole number from 0 up to and without `below`. */
  below(below: number): number {
    return Math.floor(this.#next() * below);
  }

  /** True in one of `n` cases. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
