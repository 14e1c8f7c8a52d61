import type { Node } from 'jsonc-parser';
import { endOf, itemsOf, valueOf } from './json-tree.js';
import type { JsonTree } from './json-tree.js';

/**
 * Edits of a JSON text in place. What is put in is told apart by its layout from what was there before, so that taking
 * it out gives the text back byte for byte, whatever it was:
 *
 * - an object or list that is made here stands on one line, a space inside its brackets: `{ "servers": { "mesh": … } }`;
 * - in one that was there with nothing in it (`{}`), the new item has lines of its own;
 * - in one that held only spaces and line ends, it follows the opening bracket at once;
 * - elsewhere it goes behind the last item and the comments after that, with a comma at the end where they have one.
 */
export function insertItem(tree: JsonTree, container: Node, item: string): string {
  const { text } = tree;
  const [open, close] = [container.offset, endOf(container) - 1];
  const last = itemsOf(container).at(-1);
  const from = last === undefined ? open + 1 : endOf(valueOf(last));
  const comma = tree.commas.find((offset) => offset >= from && offset < close);
  const comment = tree.comments.findLast(({ start, end }) => start >= from && end <= close);
  const at = Math.max(from, comma === undefined ? 0 : comma + 1, comment?.end ?? 0);
  const isBroken = /[\r\n]/.test(text.slice(open, close));
  const lineBreak = `${eolOf(text)}${indentOf(tree, container, last)}`;
  if (last === undefined) {
    if (comment !== undefined) return splice(text, { at, text: `${lineBreak}${item}` });
    if (close > open + 1) return splice(text, { at, text: item });
    return splice(text, { at, text: `${lineBreak}${item}${eolOf(text)}${lineIndent(text, open)}` });
  }
  const gap = isBroken ? lineBreak : ' ';
  return comma === undefined
    ? splice(text, { at, text: `${gap}${item}` }, { at: from, text: ',' })
    : splice(text, { at, text: `${gap}${item},` });
}

/** Without an item, its comma, and the space before it. */
export function removeItem(tree: JsonTree, container: Node, item: Node): string {
  const { text, comments, commas } = tree;
  const [open, close] = [container.offset, endOf(container) - 1];
  const items = itemsOf(container);
  const index = items.indexOf(item);
  const [start, end] = [item.offset, endOf(valueOf(item))];
  const isLast = index === items.length - 1;
  const before = items[index - 1];
  const nextStart = items[index + 1]?.offset ?? close;
  const commaAfter = commas.find((offset) => offset >= end && offset < nextStart);
  const commaBefore = before && commas.find((offset) => offset >= endOf(valueOf(before)) && offset < start);
  const isAlone = items.length === 1;
  const around = text.slice(open + 1, start) + text.slice(end, close).replace(',', '');
  if (isAlone && start > open + 1 && isSpace(around)) return splice(text, { at: open + 1, until: close, text: '' });
  const spaceFrom = isAlone && start === open + 1 ? start : spaceBefore(text, start);
  const comma = isLast ? (commaAfter ?? commaBefore) : commaAfter;
  const next = splice(
    text,
    { at: spaceFrom, until: end, text: '' },
    ...(comma === undefined ? [] : [{ at: comma, until: comma + 1, text: '' }]),
  );
  // A line comment goes to its line's end, and would take in what follows.
  const endsComment = comments.some((span) => span.end === spaceFrom && text.startsWith('//', span.start));
  const follows = text.slice(commaAfter === end ? end + 1 : end);
  return endsComment && !/^[ \t]*[\r\n]/.test(follows)
    ? splice(text, { at: start, until: end, text: '' }, ...(comma === undefined ? [] : [{ at: comma, until: comma + 1, text: '' }])) // prettier-ignore
    : next;
}

/** Another value in the place of one. */
export function replaceValue({ text }: JsonTree, value: Node, next: string): string {
  return splice(text, { at: value.offset, until: endOf(value), text: next });
}

/** True for an object or list that was made here for this item, and holds nothing else. */
export function isMadeFor({ text }: JsonTree, container: Node, item: Node): boolean {
  const before = text.slice(container.offset + 1, item.offset);
  const after = text.slice(endOf(valueOf(item)), endOf(container) - 1);
  return before === ' ' && after === ' ';
}

/** A value on one line, with a space inside an object's brackets. */
export function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${oneLine(each)}`);
  return `{ ${inner.join(', ')} }`;
}

interface Edit {
  at: number;
  /** Up to where text goes out; nothing where left out. */
  until?: number;
  text: string;
}

function splice(text: string, ...edits: Edit[]): string {
  return [...edits]
    .sort((a, b) => b.at - a.at)
    .reduce((next, { at, until = at, text: added }) => next.slice(0, at) + added + next.slice(until), text);
}

const isSpace = (text: string): boolean => /^[ \t\r\n]*$/.test(text);

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

function spaceBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && ' \t\r\n'.includes(text.charAt(at - 1))) at -= 1;
  return at;
}

/** The white space that the line of `offset` begins with. */
function lineIndent(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** As the last item where that begins its line, else one step deeper than the container. */
function indentOf({ text }: JsonTree, container: Node, last: Node | undefined): string {
  if (last !== undefined && isSpace(text.slice(spaceBefore(text, last.offset), last.offset))) {
    const indent = lineIndent(text, last.offset);
    if (/[\r\n]/.test(text.slice(spaceBefore(text, last.offset), last.offset))) return indent;
  }
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return lineIndent(text, container.offset) + (unit.startsWith('\t') ? '\t' : unit.slice(0, 8));
}
