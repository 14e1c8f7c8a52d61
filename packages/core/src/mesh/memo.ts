/** The last value that was worked out, kept while what it follows from (`key`) stays the same. */
export class Memo<T> {
  #known: { key: string; value: T } | null = null;

  async get(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#known?.key === key) return this.#known.value;
    const value = await work();
    this.#known = { key, value };
    return value;
  }
}
