import { MeshError } from '@git-mesh/core';
import type { TomlServerEntry } from './clients.js';
import { statementsOf } from './toml-statements.js';
import type { Statement } from './toml-statements.js';

/** What stands where our table belongs: a key with its whole path, or a header. */
interface Standing {
  statement: Statement;
  /** From 1. */
  line: number;
  /** The names of the table that it stands in and its own. */
  path: readonly string[];
}

/** Ours as TOML, for a table of its own or for a person who puts it in by hand. */
export function tomlLines({ value }: TomlServerEntry): { command: string; args: string } {
  return { command: `command = ${quoted(value.command)}`, args: `args = [${value.args.map(quoted).join(', ')}]` };
}

/** A TOML basic string: JSON's escapes are among its own. */
const quoted = (text: string): string => JSON.stringify(text);

/** Says what stands there, which is TOML but in a form that is not edited here, and what a person is to write instead. */
export function otherForm(text: string, entry: TomlServerEntry, what: 'add' | 'remove'): MeshError {
  const [group, name] = entry.path;
  const all = standings(text, entry);
  const [first] = all.filter(({ statement: { isHeader, isArray } }) => !isHeader || isArray);
  if (first === undefined) {
    const lines = all.map(({ line }) => line).join(', ');
    return told(entry, `[${group}.${name}] is in parts that stand apart (lines ${lines})`, 'put them together');
  }
  const { statement, line, path } = first;
  // What is behind the equals sign may be secret.
  const kind = statement.isArray ? '' : ` = ${shownValue(statement.opening)}`;
  return told(entry, `${statement.key}${kind} (line ${line})`, way(what, { entry, statement, path }));
}

function way(
  what: 'add' | 'remove',
  { entry, statement, path }: { entry: TomlServerEntry; statement: Statement; path: readonly string[] },
): string {
  const [, name] = entry.path;
  const { command, args } = tomlLines(entry);
  const inline = `{ ${command}, ${args} }`;
  if (statement.isArray || (path.length <= 2 && statement.opening !== '{')) {
    return 'make it a table, or give it another name, then try again';
  }
  if (path.length === 1) {
    return what === 'add'
      ? `let there be in its braces: ${name} = ${inline}`
      : `take ${name} = { … } out of its braces`;
  }
  if (path.length === 2) {
    return what === 'add' ? `put in its place: ${statement.key} = ${inline}` : 'take it out';
  }
  const before = statement.path.slice(0, 2 - path.length).join('.');
  return what === 'add'
    ? `put in the place of such lines: ${before}.${command} and ${before}.${args}`
    : `take out all that begins with ${before}.`;
}

function told({ file }: TomlServerEntry, found: string, by: string): MeshError {
  return new MeshError(
    'conflict',
    `${file} has ${found}, which is a form of TOML that is not edited here, so nothing was changed; by hand: ${by}`,
  );
}

const shownValue = (opening: string): string => (opening === '{' ? '{ … }' : opening === '[' ? '[ … ]' : '…');

/** All that gives the group as a whole, or ours: headers of ours too. */
function standings(text: string, { path: [group, name] }: TomlServerEntry): Standing[] {
  let table: readonly string[] = [];
  const found: Standing[] = [];
  for (const statement of statementsOf(text)) {
    if (statement.isHeader) table = statement.path;
    const path = statement.isHeader ? statement.path : [...table, ...statement.path];
    const isGroup = path.length === 1 && (!statement.isHeader || statement.isArray);
    // What is in a table of ours is told by its header.
    const isInside = !statement.isHeader && table[1] === name;
    if (path[0] !== group || isInside || (!isGroup && path[1] !== name)) continue;
    found.push({ statement, path, line: text.slice(0, statement.start).split('\n').length });
  }
  return found;
}
