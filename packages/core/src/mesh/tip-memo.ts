import type { Branch } from './branches.js';

/** A value that follows from branches' tips alone, kept until one of them moves. */
export class TipMemo<T> {
  #known: { key: string; value: T } | null = null;

  async get(branches: readonly Branch[], work: () => Promise<T>): Promise<T> {
    const key = branches.map(({ handle, tip }) => `${handle}@${tip}`).join();
    if (this.#known?.key === key) return this.#known.value;
    const value = await work();
    this.#known = { key, value };
    return value;
  }
}
