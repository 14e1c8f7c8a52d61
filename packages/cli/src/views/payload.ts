import type { Json, JsonObject } from '@git-mesh/core';
import { rowsOf } from '../display-width.js';
import type { ViewContext } from '../view.js';

const longestLine = 2000;
const barWidth = '  │ '.length;

function valueLines(value: Json, { visible }: ViewContext): string[] {
  if (typeof value !== 'string') return [visible(JSON.stringify(value), longestLine)];
  return value.split(/\r\n|\n/).map((line) => visible(line, longestLine));
}

/**
 * A payload for a person's eyes, each row behind a bar that nothing inside it can leave: what another agent wrote must
 * not pass for the program's own words.
 */
export function payloadLines(payload: JsonObject, context: ViewContext): string[] {
  const keys = Object.keys(payload);
  const lines = keys.flatMap((key) => {
    const [first = '', ...rest] = valueLines(payload[key] ?? null, context);
    const name = keys.length === 1 && key === 'message' ? '' : `${context.visible(key, 100)}: `;
    return [`${name}${first}`, ...rest.map((line) => ' '.repeat(name === '' ? 0 : 2) + line)];
  });
  // In rows of our own: those that a terminal makes of a long line have no bar.
  const columns = context.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(8, context.columns - barWidth);
  return lines.flatMap((line) => rowsOf(line, columns)).map((row) => `${context.style.dim('  │')} ${row}`);
}
