import { isDeepStrictEqual } from 'node:util';
import { MeshError } from '@git-mesh/core';
import type { TomlServerEntry } from './clients.js';
import { otherForm, tomlLines } from './toml-form.js';
import { parseToml, statementsOf } from './toml-statements.js';
import type { Statement } from './toml-statements.js';

/** Our table in a text: its header, what is in it, and the tables below it. */
type Block = readonly [header: Statement, ...Statement[]];

/**
 * The text with our table at its end, or in its place with what its owner gave it kept: all else stays byte for byte.
 * `text` is null where there is no file.
 * @throws MeshError `invalid_argument` for what is no TOML, `conflict` where another's table has that name, or the name
 *   is given in a form that is not edited here.
 */
export function addTable(text: string | null, entry: TomlServerEntry): string {
  const { file, path, value } = entry;
  const before = text ?? '';
  const eol = eolOf(before);
  const server = serverIn(before, entry, 'add');
  const block = server === undefined ? null : blockOf(before, entry);
  const lines = tomlLines(entry);
  if (server === undefined) {
    if (isClosed(before, entry)) throw otherForm(before, entry, 'add');
    const table = [`[${path.join('.')}]`, lines.command, lines.args].join(eol);
    // Without a line's end at the end of the file as before, by which --remove knows it.
    if (before === '') return text === null ? `${table}${eol}` : table;
    return before.endsWith('\n') ? `${before}${eol}${table}${eol}` : `${before}${eol}${eol}${table}`;
  }
  if (!isOurs(server)) {
    throw new MeshError(
      'conflict',
      `${file} has another [${path.join('.')}], which is not git-mesh's, so nothing was changed: rename it first`,
    );
  }
  if (server['command'] === value.command && isDeepStrictEqual(server['args'], [...value.args])) return before;
  if (block === null) throw otherForm(before, entry, 'add');
  const [header, ...rest] = block;
  const below = rest.findIndex(({ isHeader }) => isHeader);
  const own = below < 0 ? rest : rest.slice(0, below);
  const edits = (['command', 'args'] as const).map((key) => {
    const old = own.find(({ path: [name] }) => name === key);
    return old === undefined
      ? { at: header.end, until: header.end, line: `${eol}${lines[key]}` }
      : { at: old.start, until: old.end, line: lines[key] };
  });
  return edits
    .sort((a, b) => b.at - a.at)
    .reduce((next, { at, until, line }) => next.slice(0, at) + line + next.slice(until), before);
}

/**
 * The text without our table, the tables below it, and the empty line that was put before it. Null where the file was
 * made for it, and holds nothing else.
 * @throws MeshError `invalid_argument` for what is no TOML, `conflict` where ours is in a form that is not edited here.
 */
export function removeTable(text: string, entry: TomlServerEntry): string | null {
  const server = serverIn(text, entry, 'remove');
  if (server === undefined || !isOurs(server)) return text;
  const block = blockOf(text, entry);
  if (block === null) throw otherForm(text, entry, 'remove');
  const [header] = block;
  const lastEnd = block.at(-1)?.end ?? header.end;
  const before = text.slice(0, header.start);
  const after = text.slice(lastEnd).replace(/^[^\n]*\n?/, '');
  const isLast = after === '';
  const endsInLine = text.endsWith('\n');
  if (before === '' && isLast && endsInLine && text.split('\n').length === block.length + 1) return null;
  const gap = isLast && !endsInLine ? /(?:\r?\n){2}$/ : /(?<=\n)\r?\n$/;
  return before.replace(gap, '') + after;
}

/** Whether our server is in a file, in whatever form. */
export function hasTable(text: string, entry: TomlServerEntry): boolean {
  const server = serverIn(text, entry, 'add');
  return server !== undefined && isOurs(server);
}

/** What a file holds but for our server. */
export function othersIn(text: string, { file, path: [group, name] }: TomlServerEntry): unknown {
  const { [group]: servers, ...others } = parseToml(text, file);
  if (!isTable(servers)) return servers === undefined ? others : { ...others, [group]: servers };
  const { [name]: _ours, ...rest } = servers;
  return Object.keys(rest).length === 0 ? others : { ...others, [group]: rest };
}

/** @throws MeshError `conflict` where something that is no table stands where the servers or ours should. */
function serverIn(text: string, entry: TomlServerEntry, what: 'add' | 'remove'): Record<string, unknown> | undefined {
  const [group, name] = entry.path;
  const servers = parseToml(text, entry.file)[group];
  if (servers === undefined) return undefined;
  if (!isTable(servers)) throw otherForm(text, entry, what);
  const server = servers[name];
  if (server !== undefined && !isTable(server)) throw otherForm(text, entry, what);
  return server;
}

/** Whether the group is given as one value, `mcp_servers = { … }`, which no header adds to. */
function isClosed(text: string, { path: [group] }: TomlServerEntry): boolean {
  const statements = statementsOf(text);
  const end = statements.findIndex(({ isHeader }) => isHeader);
  return statements.slice(0, end < 0 ? undefined : end).some(({ path }) => path.length === 1 && path[0] === group);
}

const isOurs = ({ command, args }: Record<string, unknown>): boolean =>
  [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].some(
    (word) => typeof word === 'string' && word.includes('git-mesh'),
  );

/** Null where the table has no header of its own, or its parts are not together. */
function blockOf(text: string, { path }: TomlServerEntry): Block | null {
  const statements = statementsOf(text);
  const isBelow = (statement: Statement): boolean => path.every((name, index) => statement.path[index] === name);
  const first = statements.findIndex(({ isHeader, path: names }) => isHeader && isDeepStrictEqual(names, [...path]));
  const header = statements[first];
  if (header === undefined) return null;
  const past = statements.findIndex((each, index) => index > first && each.isHeader && !isBelow(each));
  const rest = statements.slice(first + 1, past < 0 ? undefined : past);
  const elsewhere = statements.filter((each) => each.isHeader && isBelow(each));
  return elsewhere.every((each) => each === header || rest.includes(each)) ? [header, ...rest] : null;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
