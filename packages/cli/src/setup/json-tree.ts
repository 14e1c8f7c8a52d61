import { MeshError } from '@git-mesh/core';
import { parseTree, visit } from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';

/** From `start` up to `end`, in characters of the text. */
export interface Span {
  start: number;
  end: number;
}

/** A JSON file as its reader sees it, comments and trailing commas allowed. Offsets are characters of `text`. */
export interface JsonTree {
  text: string;
  /** The path that messages name. */
  file: string;
  root: Node;
  comments: readonly Span[];
  /** Offsets of all commas between and after items. */
  commas: readonly number[];
}

/**
 * A whole JSON object; null for a text without any content.
 * @throws MeshError `invalid_argument` for text that is no JSON object, with the line where that shows.
 */
export function readTree(text: string, file: string): JsonTree | null {
  if (/^[ \t\r\n]*$/.test(text)) return null;
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // Nested deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  const [first] = errors;
  if (root?.type !== 'object' || first !== undefined) {
    const where = first === undefined ? '' : ` (line ${lineAt(text, first.offset)})`;
    throw new MeshError(
      'invalid_argument',
      `${file} is no JSON object that can be read${where}, so nothing was changed: repair it, or add git-mesh by hand (docs/mcp-clients.md)`,
    );
  }
  const comments: Span[] = [];
  const commas: number[] = [];
  visit(
    text,
    {
      onComment: (offset, length) => void comments.push({ start: offset, end: offset + length }),
      onSeparator: (character, offset) => {
        if (character === ',') commas.push(offset);
      },
    },
    { allowTrailingComma: true },
  );
  return { text, file, root, comments, commas };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length;
}

export const endOf = ({ offset, length }: Node): number => offset + length;

/** What stands between an object's or a list's brackets: properties, or values. */
export const itemsOf = ({ children = [] }: Node): readonly Node[] => children;

/** The value that an item holds: a property's, or itself. */
export const valueOf = (item: Node): Node => (item.type === 'property' ? (item.children?.[1] ?? item) : item);

const keyOf = (property: Node): unknown => property.children?.[0]?.value;

/**
 * A property of an object; undefined where there is none.
 * @throws MeshError `conflict` where it stands there twice: clients take the last, people read the first.
 */
export function propertyOf(tree: JsonTree, object: Node, key: string): Node | undefined {
  const [first, second] = itemsOf(object).filter((property) => keyOf(property) === key);
  if (first !== undefined && second !== undefined) {
    const [line, again] = [first, second].map(({ offset }) => lineAt(tree.text, offset));
    throw new MeshError(
      'conflict',
      `${tree.file} has "${key}" twice in one object, on line ${line} and on line ${again}, so nothing was changed: take one of them out first`,
    );
  }
  return first;
}

/** The properties that lead along `path`, outermost first, as far as there are some. @throws MeshError as `propertyOf`. */
export function wayOf(tree: JsonTree, path: readonly string[]): Node[] {
  const way: Node[] = [];
  let object = tree.root;
  for (const key of path) {
    const property = object.type === 'object' ? propertyOf(tree, object, key) : undefined;
    if (property === undefined) break;
    way.push(property);
    object = valueOf(property);
  }
  return way;
}

/** A string property's value; undefined for all else. */
export function stringAt(tree: JsonTree, object: Node, key: string): string | undefined {
  if (object.type !== 'object') return undefined;
  const property = propertyOf(tree, object, key);
  const value: unknown = property === undefined ? undefined : valueOf(property).value;
  return typeof value === 'string' ? value : undefined;
}

/** A node's content without its layout, the order of keys and doubled keys kept: equal texts hold the same. */
export function contentOf(node: Node, skipped: ReadonlySet<Node> = new Set()): string {
  const inner = itemsOf(node).filter((item) => !skipped.has(item));
  switch (node.type) {
    case 'object':
      return `{${inner.map((item) => contentOf(item, skipped)).join(',')}}`;
    case 'array':
      return `[${inner.map((item) => contentOf(item, skipped)).join(',')}]`;
    case 'property':
      return inner.map((item) => contentOf(item, skipped)).join(':');
    default:
      return JSON.stringify(node.value);
  }
}
