import { displayWidth } from '../display-width.js';
import type { ViewContext } from '../view.js';

/** An entry of a list, which may be painted: its width is that of `text`. */
export interface ListEntry {
  text: string;
  painted: string;
}

/** A list behind its name, in as many lines as the terminal needs, each but the first indented. No entry is broken. */
export function listLines(name: string, entries: readonly ListEntry[], { style, columns }: ViewContext): string[] {
  const available = columns ?? Number.POSITIVE_INFINITY;
  const lines: string[] = [];
  let line = style.dim(name);
  let width = displayWidth(name);
  entries.forEach(({ text, painted }, at) => {
    const last = at === entries.length - 1;
    const wide = displayWidth(text) + (last ? 0 : 1);
    if (at > 0 && width + 1 + wide > available) {
      lines.push(line);
      [line, width] = ['  ', 2];
    } else if (at > 0) {
      [line, width] = [`${line} `, width + 1];
    }
    line += painted + (last ? '' : ',');
    width += wide;
  });
  return [...lines, line];
}
