import { MeshError } from '@git-mesh/core';
import type { Node } from 'jsonc-parser';
import type { HookEntry, JsonEntry } from './clients.js';
import { insertItem, isMadeFor, oneLine, removeItem, replaceValue } from './json-edit.js';
import { contentOf, endOf, itemsOf, propertyOf, readTree, stringAt, valueOf, wayOf } from './json-tree.js';
import type { JsonTree } from './json-tree.js';

/** Ours in a file: the items that lead to it, outermost first; the last one holds it. */
type Place = readonly Node[];

/**
 * The text with our entry, its owner's comments and layout kept. `text` is null where there is no file.
 * @throws MeshError `invalid_argument` for what cannot be edited, `conflict` where another's entry has that name or a
 *   key stands twice; the text is left as it is.
 */
export function addEntry(text: string | null, entry: JsonEntry): string {
  const tree = readTree(text ?? '', entry.file);
  if (tree === null) return `${text ?? ''}{ ${made(entry, 0)}${tailOf(entry)}${text === null ? '\n' : ''}`;
  const missing = firstMissing(tree, entry);
  if (missing !== null) return insertItem(tree, missing.object, made(entry, missing.depth));
  const [ours] = placesOf(tree, entry);
  if (ours !== undefined) return updated(tree, entry);
  const last = wayOf(tree, entry.path).at(-1);
  if (entry.kind === 'json server' || last === undefined) {
    throw new MeshError(
      'conflict',
      `${entry.file} has another ${entry.path.join('.')}, which is not git-mesh's, so nothing was changed: rename it first`,
    );
  }
  const found = valueOf(last);
  if (found.type !== 'array') {
    throw new MeshError(
      'invalid_argument',
      `${entry.file}: ${entry.path.join('.')} is no list of hooks, so nothing was changed`,
    );
  }
  return insertItem(tree, found, groupOf(entry));
}

/**
 * The text without our entry: byte for byte what it was before, as long as that part of it is laid out as `addEntry`
 * did it. Null where the file was made for it, and holds nothing else.
 * @throws MeshError as `addEntry`.
 */
export function removeEntry(text: string, entry: JsonEntry): string | null {
  let next = text;
  for (;;) {
    const tree = readTree(next, entry.file);
    const place = tree === null ? undefined : placesOf(tree, entry).at(-1);
    if (tree === null || place === undefined) return next;
    const without = withoutPlace(tree, place, entry);
    if (without === null) return null;
    next = without;
  }
}

/** All places of ours, in the order of the text. */
export function placesOf(tree: JsonTree, entry: JsonEntry): Place[] {
  const way = wayOf(tree, entry.path);
  const last = way.at(-1);
  if (last === undefined || way.length < entry.path.length) return [];
  const value = valueOf(last);
  if (entry.kind === 'json server') return isOurServer(tree, value) ? [way] : [];
  if (value.type !== 'array') return [];
  return itemsOf(value).flatMap((group): Place[] => {
    if (!entry.isNested) return isOurHook(tree, group, entry) ? [[...way, group]] : [];
    const inner = group.type === 'object' ? propertyOf(tree, group, 'hooks') : undefined;
    if (inner === undefined || valueOf(inner).type !== 'array') return [];
    return itemsOf(valueOf(inner))
      .filter((hook) => isOurHook(tree, hook, entry))
      .map((hook) => [...way, group, inner, hook]);
  });
}

/** Whatever its path, it starts a git-mesh. */
function isOurServer(tree: JsonTree, value: Node): boolean {
  if (value.type !== 'object') return false;
  if (stringAt(tree, value, 'command')?.includes('git-mesh') === true) return true;
  const args = propertyOf(tree, value, 'args');
  return args !== undefined && contentOf(valueOf(args)).includes('git-mesh');
}

function isOurHook(tree: JsonTree, value: Node, entry: HookEntry): boolean {
  const command = stringAt(tree, value, 'command');
  return command?.includes('git-mesh') === true && `${command} `.includes(` ${entry.call} `);
}

/** The object that the first name of the path is missing in; null where all are there. */
function firstMissing(tree: JsonTree, { file, path }: JsonEntry): { object: Node; depth: number } | null {
  const way = wayOf(tree, path);
  if (way.length === path.length) return null;
  const last = way.at(-1);
  const object = last === undefined ? tree.root : valueOf(last);
  if (object.type === 'object') return { object, depth: way.length };
  throw new MeshError(
    'invalid_argument',
    `${file}: ${path.slice(0, way.length).join('.')} is no JSON object, so nothing was changed`,
  );
}

/** The property of `path[depth]`, with all that is in it. */
function made(entry: JsonEntry, depth: number): string {
  const [key = '', ...deeper] = entry.path.slice(depth).map((each) => JSON.stringify(each));
  const value = entry.kind === 'hook' ? `[ ${groupOf(entry)} ]` : oneLine(entry.value);
  return `${key}: ${deeper.reduceRight((inner, each) => `{ ${each}: ${inner} }`, value)}`;
}

function groupOf({ isNested, value }: HookEntry): string {
  return isNested ? `{ "hooks": [ ${oneLine(value)} ] }` : oneLine(value);
}

/** What a file that is made for an entry has behind it. What it begins with elsewhere is last here, to be told by that. */
function tailOf(entry: JsonEntry): string {
  const preset = entry.kind === 'hook' ? Object.entries(entry.preset) : [];
  return `${preset.map(([key, value]) => `, ${JSON.stringify(key)}: ${oneLine(value)}`).join('')} }`;
}

/** With what ours is to start; whatever else its owner gave it stays. */
function updated(tree: JsonTree, entry: JsonEntry): string {
  let { text } = tree;
  for (const key of ['command', 'args'] as const) {
    const now = readTree(text, entry.file);
    const item = now === null ? undefined : ownItem(now, entry);
    if (now === null || item === undefined) return text;
    const value = wantedOf(now, valueOf(item), entry)[key];
    if (value === undefined) continue;
    const property = propertyOf(now, valueOf(item), key);
    if (property === undefined) text = insertItem(now, valueOf(item), `"${key}": ${oneLine(value)}`);
    else if (contentOf(valueOf(property)) !== JSON.stringify(value)) {
      text = replaceValue(now, valueOf(property), oneLine(value));
    }
  }
  return text;
}

/** Ours, also half-way to what it is to start: a server is known by its name then. */
function ownItem(tree: JsonTree, entry: JsonEntry): Node | undefined {
  return entry.kind === 'json server' ? wayOf(tree, entry.path).at(-1) : placesOf(tree, entry)[0]?.at(-1);
}

function wantedOf(tree: JsonTree, ours: Node, entry: JsonEntry): { command: string; args?: readonly string[] } {
  if (entry.kind === 'json server') return entry.value;
  return { command: `${entry.value.command}${givenTo(tree, ours, entry)}` };
}

/** What its owner wrote behind our hook's call, as ` --agent qa`. */
function givenTo(tree: JsonTree, hook: Node, { call }: HookEntry): string {
  const command = stringAt(tree, hook, 'command') ?? '';
  return command.slice(`${command} `.indexOf(` ${call} `) + call.length + 1);
}

function withoutPlace(tree: JsonTree, place: Place, entry: JsonEntry): string | null {
  const { text, root } = tree;
  let level = place.length - 1;
  for (; level > 0; level--) {
    const [holder, item] = [place[level - 1], place[level]];
    if (holder === undefined || item === undefined) break;
    if (!isMadeFor(tree, valueOf(holder), item) && !isBareGroup(tree, place, level)) break;
  }
  const item = place[level];
  if (item === undefined) return text;
  const holder = place[level - 1];
  if (holder !== undefined) return removeItem(tree, valueOf(holder), item);
  const isFirst = text.slice(root.offset, item.offset) === '{ ';
  const tail = text.slice(endOf(valueOf(item)));
  if (isFirst && root.offset === 0 && tail === `${tailOf(entry)}\n`) return null;
  if (isFirst && tail === tailOf(entry)) return text.slice(0, root.offset);
  return removeItem(tree, root, item);
}

/** A group of hooks that holds ours and nothing else: it is ours too, however a client has laid it out since. */
function isBareGroup(tree: JsonTree, place: Place, level: number): boolean {
  const group = place.at(-3);
  const hook = place.at(-1);
  if (place.length < 5 || level < place.length - 2 || group === undefined || hook === undefined) return false;
  const isCommented = tree.comments.some(
    ({ start }) => start > group.offset && start < endOf(group) && !(start > hook.offset && start < endOf(hook)),
  );
  return !isCommented && contentOf(group) === `{"hooks":[${contentOf(hook)}]}`;
}
