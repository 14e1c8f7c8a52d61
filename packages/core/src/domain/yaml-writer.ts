import { MeshError } from '../errors.js';
import { isJsonObject } from './json.js';
import type { Json } from './records.js';
import { hasUnseen, isWellFormed, visibleText } from './visible-text.js';

/**
 * Writes YAML that people can read and every YAML 1.2 (and most 1.1) reader takes for the same value: block style, two
 * spaces, strings plain where nothing could take them for anything else and double-quoted on one line otherwise.
 * @throws MeshError `invalid_argument` for what JSON cannot hold and for more than `maxDepth` levels.
 */
export function writeReadableYaml(value: Json, maxDepth: number): string {
  const lines: string[] = [];
  if (isBlock(value)) writeBlock(value, '', lines, maxDepth);
  else lines.push(scalar(value));
  return `${lines.join('\n')}\n`;
}

/** The outermost mapping in block style, what is in it as compact JSON: never much longer than the value's own JSON. */
export function writeCompactYaml(value: Json): string {
  if (!isJsonObject(value) || !isBlock(value)) return `${compact(value)}\n`;
  return Object.entries(value)
    .map(([key, item]) => `${blockKey(key)} ${isBlock(item) ? compact(item) : scalar(item)}\n`)
    .join('');
}

type Block = Json[] | Record<string, Json>;

/** True for collections that have something in them; empty ones are written as `[]` and `{}`. */
function isBlock(value: Json): value is Block {
  if (Array.isArray(value)) return value.length > 0;
  return isJsonObject(value) && Object.keys(value).length > 0;
}

function writeBlock(value: Block, indent: string, lines: string[], levels: number): void {
  if (levels <= 0) throw new MeshError('invalid_argument', 'the value is nested too deeply to be written');
  if (Array.isArray(value)) {
    for (const item of value) writeItem(`${indent}-`, item, indent, lines, levels);
  } else {
    for (const [key, item] of Object.entries(value))
      writeItem(indent + blockKey(key, indent), item, indent, lines, levels);
  }
}

function writeItem(head: string, item: Json, indent: string, lines: string[], levels: number): void {
  if (!isBlock(item)) {
    lines.push(`${head} ${scalar(item)}`);
    return;
  }
  const inner: string[] = [];
  writeBlock(item, `${indent}  `, inner, levels - 1);
  if (head.endsWith('-')) {
    // The first line of a list's item stands on the dash's own line: `- name: x`.
    lines.push(`${head} ${(inner[0] ?? '').trimStart()}`);
    inner.shift();
  } else {
    lines.push(head);
  }
  for (const line of inner) lines.push(line);
}

/** YAML readers may refuse longer keys that stand before a colon, so those are written `? key` and `: value`. */
const longestPlainKey = 500;

function blockKey(key: string, indent = ''): string {
  const written = string(key);
  return written.length <= longestPlainKey ? `${written}:` : `? ${written}\n${indent}:`;
}

function scalar(value: Json): string {
  if (typeof value === 'string') return string(value);
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value)) return '[]';
  return value === null || typeof value === 'boolean' ? String(value) : '{}';
}

function number(value: number): string {
  if (!Number.isFinite(value)) throw new MeshError('invalid_argument', `${value} is no JSON number`);
  return Object.is(value, -0) ? '-0' : String(value);
}

const plain = /^[\p{L}_/][\p{L}\p{M}\p{N} _./@+()'=&;$%*!?,:#~-]*$/u;
const plainAscii = /^[A-Za-z_/][A-Za-z0-9 _./@+()'=&;$%*!?,:#~-]*$/;
const ascii = /^[ -~]*$/;
/** What YAML 1.1 readers take for null, booleans and numbers, besides what begins with a digit or a dot. */
const reserved = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

function string(text: string): string {
  // Most texts: the engine makes the larger expressions when one is first used, and that takes milliseconds.
  const isAscii = ascii.test(text);
  if (!isAscii && !isWellFormed(text)) {
    throw new MeshError(
      'invalid_argument',
      `the text "${visibleText(text, { maxLength: 40 })}" holds half of a surrogate pair, which UTF-8 cannot carry`,
    );
  }
  const isPlain =
    (isAscii ? plainAscii.test(text) : plain.test(text) && !hasUnseen(text)) &&
    !reserved.test(text) &&
    !/ $|:(?: |$)| #/.test(text) &&
    text.length <= 500;
  return isPlain ? text : quoted(text);
}

/** Double-quoted: JSON's escapes, and escapes for whatever an editor or terminal would hide or act on. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/gu, (char) => (hasUnseen(char) ? escapeUnits(char) : char));
}

function escapeUnits(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** JSON as it is, except that long keys inside are written `? key : value`, which flow mappings know too. */
function compact(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : scalar(value);
  const pairs = Object.entries(value).map(([key, item]) => {
    const written = JSON.stringify(key);
    return written.length <= longestPlainKey ? `${written}:${compact(item)}` : `? ${written}:${compact(item)}`;
  });
  return `{${pairs.join(',')}}`;
}
