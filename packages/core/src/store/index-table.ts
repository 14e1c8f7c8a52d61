import type { PagePlace } from './index-pages.js';

/** A lookup mostly reads one page of the ids and one of the offsets. */
const pageBytes = 16 * 1024;

/** One of the tables of an index: its entries of so many bytes each, in pages of so many entries. */
export class IndexTable {
  readonly length: number;
  /** Of no other table of the index. */
  readonly #firstPage: number;
  readonly #at: number;
  readonly #width: number;
  readonly #entriesAPage: number;

  constructor({ firstPage, at, width, length }: { firstPage: number; at: number; width: number; length: number }) {
    this.length = length;
    this.#firstPage = firstPage;
    this.#at = at;
    this.#width = width;
    this.#entriesAPage = Math.floor(pageBytes / width);
  }

  /** The page with the n-th entry. */
  pageOf(n: number): PagePlace {
    const page = Math.floor(n / this.#entriesAPage);
    const first = page * this.#entriesAPage;
    const length = Math.min(this.#entriesAPage, this.length - first) * this.#width;
    return { number: this.#firstPage + page, at: this.#at + first * this.#width, length };
  }

  /** Its entries: from `first` to before `end`. */
  entriesOf({ at, length }: PagePlace): { first: number; end: number } {
    const first = (at - this.#at) / this.#width;
    return { first, end: first + length / this.#width };
  }

  /** Where in its page the n-th entry begins, in bytes. */
  within({ at }: PagePlace, n: number): number {
    return this.#at + n * this.#width - at;
  }
}
