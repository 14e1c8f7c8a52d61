import { MeshError } from '@git-mesh/core';

export interface TomlServer {
  command: string;
  args: readonly string[];
}

interface Block {
  start: number;
  end: number;
  text: string;
}

/**
 * One table of a TOML file, as text: all else stays byte for byte. Only the form that the client's own command writes,
 * `[a.b]` on a line of its own, is known.
 *
 * @throws MeshError `conflict` where another's entry stands under that name, or the name is given in another form.
 */
export function setTable(text: string, file: string, table: string, { command, args }: TomlServer): string {
  refuseOtherForms(text, file, table);
  const lines = [`[${table}]`, `command = ${quoted(command)}`, `args = [${args.map(quoted).join(', ')}]`, ''];
  const wanted = lines.join('\n');
  const block = find(text, table);
  if (block === null) {
    const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return `${text}${gap}${wanted}`;
  }
  if (!block.text.includes('git-mesh')) {
    throw new MeshError(
      'conflict',
      `${file} has another [${table}], which is not git-mesh's, so nothing was changed: rename it first`,
    );
  }
  const same = lines.slice(0, -1).every((line) => block.text.includes(line));
  return same
    ? text
    : text.slice(0, block.start) + wanted + block.text.slice(block.text.trimEnd().length + 1) + text.slice(block.end);
}

/** Without our table, and the empty line that was put before it. */
export function removeTable(text: string, table: string): string {
  const block = find(text, table);
  if (block?.text.includes('git-mesh') !== true) return text;
  const before = text.slice(0, block.start);
  return before.replace(/\n\n$/, '\n') + text.slice(block.end);
}

function find(text: string, table: string): Block | null {
  const header = new RegExp(`^\\[${table.replaceAll('.', '\\.')}\\][ \\t]*(?:#.*)?$`, 'm').exec(text);
  if (header === null) return null;
  const after = header.index + header[0].length;
  const next = /^[ \t]*\[/m.exec(text.slice(after));
  const end = next === null ? text.length : after + next.index;
  return { start: header.index, end, text: text.slice(header.index, end) };
}

function refuseOtherForms(text: string, file: string, table: string): void {
  const [group = '', name = ''] = table.split('.');
  const dotted = new RegExp(
    `^\\s*(?:${group}\\s*=|${group}\\s*\\.\\s*${name}\\b|\\[\\s*"?${group}"?\\s*\\]\\s*$)`,
    'm',
  );
  if (!dotted.test(text) && !hasOtherHeader(text, table)) return;
  throw new MeshError(
    'conflict',
    `${file} gives ${group} in a form that is not edited here, so nothing was changed: add [${table}] by hand (docs/mcp-clients.md)`,
  );
}

/** The same table, or a part of it, under a header that is written otherwise: ours beside it would declare it twice. */
function hasOtherHeader(text: string, table: string): boolean {
  const own = find(text, table);
  const [group = ''] = table.split('.');
  for (const [, open = '', inner = ''] of text.matchAll(/^[ \t]*(\[{1,2})([^\]\n]*)\]/gm)) {
    const name = inner.replace(/["'\s]/g, '');
    if (open === '[[' && (name === group || name === table)) return true;
    if (name === table && own === null) return true;
    if (name.startsWith(`${table}.`) && own === null) return true;
  }
  return false;
}

/** A TOML basic string: JSON's escapes are among its own. */
const quoted = (text: string): string => JSON.stringify(text);
