import { MeshError } from '@git-mesh/core';
import { applyEdits, modify, parse } from 'jsonc-parser';
import type { FormattingOptions, JSONPath, ParseError } from 'jsonc-parser';

/** A client's JSON file, comments and layout of its owner's kept. Every function gives the new text. */

/** True for what a git-mesh wrote: whatever its path, it names the program. */
function isOurs(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('git-mesh');
}

/** @throws MeshError `invalid_argument` for text that is no JSON object: it is left as it is. */
export function readObject(text: string, file: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length === 0 && isObject(value)) return value;
  throw new MeshError(
    'invalid_argument',
    `${file} is no JSON object that can be read, so nothing was changed: repair it, or add git-mesh by hand (docs/mcp-clients.md)`,
  );
}

/** @throws MeshError `conflict` where another's entry stands under that name. */
export function setEntry(text: string, file: string, path: readonly string[], value: object): string {
  requireRoom(text, file, path);
  const before = at(readObject(text, file), path);
  if (before !== undefined && !isOurs(before)) {
    throw new MeshError(
      'conflict',
      `${file} has another ${path.join('.')}, which is not git-mesh's, so nothing was changed: rename it first`,
    );
  }
  return JSON.stringify(before) === JSON.stringify(value) ? text : put(text, [...path], value);
}

/** Ours in a list of hooks: one, in its place or at the end. `preset`: what a new file has to begin with. */
export function setHook(text: string, file: string, path: readonly string[], value: object, preset: object): string {
  let next = text;
  if (text.trim() === '') for (const [key, first] of Object.entries(preset)) next = put(next, [key], first);
  requireRoom(next, file, path);
  const list = at(readObject(next, file), path);
  if (list !== undefined && !Array.isArray(list)) {
    throw new MeshError('invalid_argument', `${file}: ${path.join('.')} is no list of hooks, so nothing was changed`);
  }
  const hooks: unknown[] = list ?? [];
  const mine = hooks.findIndex(isOurs);
  if (mine < 0) return put(next, [...path, hooks.length], value, true);
  return JSON.stringify(hooks[mine]) === JSON.stringify(value) ? next : put(next, [...path, mine], value);
}

/** Without our entry, and without what is empty then. */
export function removeEntry(text: string, file: string, path: readonly string[]): string {
  const before = at(readObject(text, file), path);
  return before === undefined || !isOurs(before)
    ? text
    : prune(put(text, [...path], undefined), file, path.slice(0, -1));
}

export function removeHook(text: string, file: string, path: readonly string[]): string {
  const list = at(readObject(text, file), path);
  if (!Array.isArray(list)) return text;
  let next = text;
  for (let index = list.length - 1; index >= 0; index--) {
    if (isOurs(list[index])) next = put(next, [...path, index], undefined);
  }
  return next === text ? text : prune(next, file, path);
}

/** @throws MeshError `invalid_argument` where something that is no object stands where the entry's parent should. */
function requireRoom(text: string, file: string, path: readonly string[]): void {
  const whole = readObject(text, file);
  for (let length = 1; length < path.length; length++) {
    const inner = path.slice(0, length);
    const value = at(whole, inner);
    if (value === undefined || isObject(value)) continue;
    throw new MeshError('invalid_argument', `${file}: ${inner.join('.')} is no JSON object, so nothing was changed`);
  }
}

function prune(text: string, file: string, path: readonly string[]): string {
  let next = text;
  for (let length = path.length; length > 0; length--) {
    const inner = path.slice(0, length);
    const value = at(readObject(next, file), inner);
    if (value === null || typeof value !== 'object' || Object.keys(value).length > 0) return next;
    next = put(next, [...inner], undefined);
  }
  return next;
}

function put(text: string, path: JSONPath, value: unknown, isArrayInsertion = false): string {
  const base = text.trim() === '' ? '{}\n' : text;
  const edits = modify(base, path, value, { formattingOptions: layoutOf(base), isArrayInsertion });
  return applyEdits(base, edits);
}

/** As the file is laid out already. */
function layoutOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : Math.min(indent.length, 8),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

function at(value: unknown, path: readonly string[]): unknown {
  let found: unknown = value;
  for (const key of path) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
