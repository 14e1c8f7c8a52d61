import { MeshError } from '../errors.js';
import { setKey } from './json.js';
import type { Json, JsonObject } from './records.js';
import { writeReadableYaml } from './yaml-writer.js';

/**
 * What `writeReadableYaml` writes, read without a YAML parser: that is most files, and the parser takes longer to load
 * than many a command to do its work. The text counts only where writing the value gives the very same text again, so
 * this reader need not be exact: whatever it misunderstands is written differently.
 * @returns undefined for every other text, valid or not.
 */
export function readOwnYaml(text: string, maxDepth: number): Json | undefined {
  if (!text.endsWith('\n')) return undefined;
  const reader = new OwnReader(text.slice(0, -1).split('\n'));
  try {
    const value = reader.document(maxDepth);
    return value !== undefined && writeReadableYaml(value, maxDepth) === text ? value : undefined;
  } catch (error) {
    // SyntaxError: a quoted text that JSON does not know. MeshError: what is never written.
    if (error instanceof SyntaxError || error instanceof MeshError) return undefined;
    throw error;
  }
}

/** A key and what stands behind its colon. One pass whatever the line holds: `.` takes any character. */
const entry = /^("(?:[^"\\]|\\.)*"|[^"\-?[\]{}].*?):(?: (.*))?$/s;

class OwnReader {
  readonly #lines: string[];
  #at = 0;

  constructor(lines: string[]) {
    this.#lines = lines;
  }

  document(maxDepth: number): Json | undefined {
    const [first = ''] = this.#lines;
    const value = isItem(first) || entry.test(first) ? this.#block('', maxDepth) : this.#scalarLine(first);
    return this.#at === this.#lines.length ? value : undefined;
  }

  #scalarLine(line: string): Json | undefined {
    this.#at += 1;
    return scalar(line);
  }

  /** Undefined where it is none, or nested too deeply. */
  #block(indent: string, levels: number): Json | undefined {
    if (levels <= 0) return undefined;
    return isItem(this.#line(indent) ?? '') ? this.#list(indent, levels) : this.#mapping(indent, levels);
  }

  #list(indent: string, levels: number): Json | undefined {
    const items: Json[] = [];
    for (let line = this.#line(indent); line !== undefined && isItem(line); line = this.#line(indent)) {
      const rest = line.slice(2);
      const inner = `${indent}  `;
      const isBlock = isItem(rest) || entry.test(rest);
      // A block begins on the dash's own line.
      if (isBlock) this.#lines[this.#at] = inner + rest;
      const item = isBlock ? this.#block(inner, levels - 1) : this.#scalarLine(rest);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  #mapping(indent: string, levels: number): Json | undefined {
    const object: JsonObject = {};
    for (let line = this.#line(indent); line !== undefined; line = this.#line(indent)) {
      const [, written = '', rest] = entry.exec(line) ?? [];
      const key = scalar(written);
      if (typeof key !== 'string') return undefined;
      this.#at += 1;
      const value = rest === undefined ? this.#block(`${indent}  `, levels - 1) : scalar(rest);
      if (value === undefined) return undefined;
      setKey(object, key, value);
    }
    return object;
  }

  /** The line that is next, where it has just this indent; without it. */
  #line(indent: string): string | undefined {
    const line = this.#lines[this.#at];
    return line?.startsWith(indent) === true && line[indent.length] !== ' ' ? line.slice(indent.length) : undefined;
  }
}

const isItem = (line: string): boolean => line.startsWith('- ');

function scalar(text: string): Json | undefined {
  if (text.startsWith('"')) return quoted(text);
  switch (text) {
    case 'null':
      return null;
    case 'true':
      return true;
    case 'false':
      return false;
    case '[]':
      return [];
    case '{}':
      return {};
    case '':
      return undefined;
  }
  return /^-?\d/.test(text) ? Number(text) : text;
}

/** @throws SyntaxError */
function quoted(text: string): Json {
  return JSON.parse(
    // Beyond the first 65,536 characters YAML has an escape of its own, and JSON two.
    text.replace(/\\(?:U([0-9a-f]{8})|.)/g, (escape, code?: string) =>
      code === undefined ? escape : astral(Number.parseInt(code, 16)),
    ),
  ) as string;
}

const astral = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\\x');
