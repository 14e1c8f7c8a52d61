import { JsonScanner, JsonStop } from './json-scanner.js';

/** A place in a text: the offset in UTF-16 units from 0, line and column from 1. */
export interface TextPlace {
  offset: number;
  line: number;
  column: number;
}

export function textPlace(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  return { offset, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Where `text` stops being JSON: the engines' own messages name no place, or each another one. Null where it is JSON. */
export function jsonErrorPosition(text: string): TextPlace | null {
  try {
    new JsonScanner(text).document();
    return null;
  } catch (error) {
    // Nesting so deep that it ends the stack has no place worth naming.
    if (!(error instanceof JsonStop)) return null;
    return textPlace(text, error.offset);
  }
}
