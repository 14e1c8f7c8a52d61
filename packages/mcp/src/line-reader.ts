const newline = 0x0a;
/** Far above any message that a tool takes. */
const defaultMaxLineBytes = 10 * 1024 * 1024;

/** A line, or why there is none. */
export type ReadLine = { text: string } | { problem: string };

/** Cuts a stream of bytes into lines of UTF-8. A line that is too long is dropped as it comes, and told once. */
export class LineReader {
  readonly maxLineBytes: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor({ maxLineBytes = defaultMaxLineBytes }: { maxLineBytes?: number } = {}) {
    this.maxLineBytes = maxLineBytes;
  }

  /** The lines that `chunk` completes, without their ends. */
  add(chunk: Buffer): ReadLine[] {
    const lines: ReadLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#complete());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.maxLineBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #complete(): ReadLine {
    const bytes = Buffer.concat(this.#parts);
    const tooLong = this.#length > this.maxLineBytes;
    this.#parts = [];
    this.#length = 0;
    if (tooLong) return { problem: `a message of more than ${this.maxLineBytes} bytes was dropped` };
    try {
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r$/, '') };
    } catch {
      // The decoder fails for nothing else.
      return { problem: 'this line is not UTF-8' };
    }
  }
}
