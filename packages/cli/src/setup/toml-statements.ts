import { MeshError } from '@git-mesh/core';
import { TomlError, parse } from 'smol-toml';

/** A table's header or a key with its value, as it stands in the text: without the comment behind it. */
export interface Statement {
  start: number;
  end: number;
  /** `[[…]]` is a header too. */
  isHeader: boolean;
  /** `[[…]]`. */
  isArray: boolean;
  /** The names of a key, of which dotted ones have several, or those of the table. */
  path: readonly string[];
  /** As it is written: the key, or the whole header. */
  key: string;
  /** What the value begins with: `{`, `[`, a quote…; empty for a header. */
  opening: string;
}

/** @throws MeshError `invalid_argument` for text that is no TOML, with the line where that shows. */
export function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new MeshError(
      'invalid_argument',
      `${file} is no TOML that can be read (line ${error.line}), so nothing was changed: repair it, or add git-mesh by hand (docs/mcp-clients.md)`,
    );
  }
}

/** A string of any kind, a comment, a bracket, a line's end, or text without any of these. */
const token =
  /"""(?:\\[^]|[^\\])*?"""(?:"{0,2})|'''[^]*?'''(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[[\]{}\n]|[^"'#[\]{}\n]+|["']/gy;

/** All statements of a text that parses, in their order. */
export function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let depth = 0;
  let start = -1;
  let end = 0;
  const finish = (): void => {
    if (start >= 0) statements.push(statementAt(text, start, end));
    start = -1;
  };
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part === '\n' && depth === 0) finish();
    if (part.startsWith('#') || part.trim() === '') continue;
    if (start < 0) start = index + part.length - part.trimStart().length;
    if (part === '[' || part === '{') depth += 1;
    if (part === ']' || part === '}') depth -= 1;
    end = index + part.trimEnd().length;
  }
  finish();
  return statements;
}

/** A key's names up to the equals sign, which may stand in quotes too. */
const keyPart = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|[^="'])*/;

function statementAt(text: string, start: number, end: number): Statement {
  const whole = text.slice(start, end);
  const isHeader = whole.startsWith('[');
  const key = isHeader ? whole : (keyPart.exec(whole)?.[0] ?? '');
  return {
    start,
    end,
    isHeader,
    isArray: whole.startsWith('[['),
    path: namesIn(parse(isHeader ? whole : `${key}= 0`)),
    key: key.trim(),
    opening: isHeader
      ? ''
      : whole
          .slice(key.length + 1)
          .trimStart()
          .slice(0, 1),
  };
}

/** The names that lead to the one thing that is in it. */
function namesIn(value: unknown): string[] {
  const inner: unknown = Array.isArray(value) ? value[0] : value;
  const [entry] = typeof inner === 'object' && inner !== null ? Object.entries(inner) : [];
  return entry === undefined ? [] : [entry[0], ...namesIn(entry[1])];
}
