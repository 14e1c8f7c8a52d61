const whitespace = /[\t\n\r ]*/y;
const word = /true|false|null/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- JSON strings hold no raw control characters
const stringBody = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** Where the text stops being JSON. Caught by whoever scans. */
export class JsonStop extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/** What is heard on the way, in the order of the text; offsets in UTF-16 units from 0. */
export interface JsonListener {
  number?(text: string, offset: number): void;
  openObject?(): void;
  /** `token` with its quotation marks and escapes. */
  key?(token: string, offset: number): void;
  closeObject?(): void;
}

/** Walks over JSON text for what JSON.parse tells nobody: where it breaks, and how numbers and keys were written. */
export class JsonScanner {
  readonly #text: string;
  readonly #listener: JsonListener;
  #at = 0;

  constructor(text: string, listener: JsonListener = {}) {
    this.#text = text;
    this.#listener = listener;
  }

  /** @throws JsonStop where the text is not JSON, RangeError where it is nested too deeply for the stack. */
  document(): void {
    this.#value();
    this.#skip(whitespace);
    if (this.#at < this.#text.length) throw new JsonStop(this.#at);
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #peek(): string {
    this.#skip(whitespace);
    return this.#text.charAt(this.#at);
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new JsonStop(this.#at);
    this.#at += 1;
  }

  #string(): void {
    this.#expect('"');
    this.#skip(stringBody);
    if (this.#text.charAt(this.#at) !== '"') throw new JsonStop(this.#at);
    this.#at += 1;
  }

  #key(): void {
    this.#peek();
    const start = this.#at;
    this.#string();
    this.#listener.key?.(this.#text.slice(start, this.#at), start);
  }

  #list(close: string, item: () => void): void {
    this.#at += 1;
    if (this.#peek() !== close) {
      item();
      while (this.#peek() === ',') {
        this.#at += 1;
        item();
      }
    }
    this.#expect(close);
  }

  #value(): void {
    const first = this.#peek();
    if (first === '{') {
      this.#listener.openObject?.();
      this.#list('}', () => {
        this.#key();
        this.#expect(':');
        this.#value();
      });
      this.#listener.closeObject?.();
    } else if (first === '[') {
      this.#list(']', () => {
        this.#value();
      });
    } else if (first === '"') this.#string();
    else if (this.#skip(word) === '') this.#number();
  }

  #number(): void {
    const start = this.#at;
    const text = this.#skip(number);
    if (text === '') throw new JsonStop(start);
    this.#listener.number?.(text, start);
  }
}
