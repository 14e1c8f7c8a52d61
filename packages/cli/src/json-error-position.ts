const whitespace = /[\t\n\r ]*/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- JSON strings hold no raw control characters
const stringBody = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** Signals where the text stops being JSON; never leaves this file. */
class Stop extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/** Walks over JSON text only to find where it breaks: the engines' own messages name no place, or each another one. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value();
    this.#skip(whitespace);
    if (this.#at < this.#text.length) throw new Stop(this.#at);
  }

  #skip(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length;
  }

  #peek(): string {
    this.#skip(whitespace);
    return this.#text.charAt(this.#at);
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new Stop(this.#at);
    this.#at += 1;
  }

  #string(): void {
    this.#expect('"');
    this.#skip(stringBody);
    if (this.#text.charAt(this.#at) !== '"') throw new Stop(this.#at);
    this.#at += 1;
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
      this.#list('}', () => {
        this.#string();
        this.#expect(':');
        this.#value();
      });
    } else if (first === '[') {
      this.#list(']', () => {
        this.#value();
      });
    } else if (first === '"') this.#string();
    else if (this.#skip(literal) === 0) throw new Stop(this.#at);
  }
}

/** Line and column, both from 1, where `text` stops being JSON, with the offset from 0; null where it is JSON. */
export function jsonErrorPosition(text: string): { offset: number; line: number; column: number } | null {
  try {
    new Scanner(text).document();
    return null;
  } catch (error) {
    // Nesting so deep that it ends the stack has no place worth naming.
    if (!(error instanceof Stop)) return null;
    const before = text.slice(0, error.offset);
    return {
      offset: error.offset,
      line: before.split('\n').length,
      column: error.offset - before.lastIndexOf('\n'),
    };
  }
}
