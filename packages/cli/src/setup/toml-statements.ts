import { MeshError } from '@git-mesh/core';
import { TomlError, parse } from 'smol-toml';

/** A table's header or a key with its value, as it stands in the text: without the comment behind it. */
export interface Statement {
  start: number;
  end: number;
  /** `[[…]]` is a header too. */
  isHeader: boolean;
  /** The key, or the names of the table. */
  path: readonly string[];
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

function statementAt(text: string, start: number, end: number): Statement {
  const path: string[] = [];
  const isHeader = text[start] === '[';
  let value: unknown = parse(text.slice(start, end), { integersAsBigInt: 'asNeeded' });
  for (;;) {
    if (Array.isArray(value)) value = value[0];
    const [entry, ...others] = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (entry === undefined || others.length > 0) break;
    path.push(entry[0]);
    if (!isHeader) break;
    value = entry[1];
  }
  return { start, end, isHeader, path };
}
