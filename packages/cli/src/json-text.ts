import { plainLine } from './plain-text.js';

/** One line of JSON whose characters a terminal shows as they are; parses to exactly `value`. */
export function jsonLine(value: unknown): string {
  return `${plainLine(JSON.stringify(value))}\n`;
}
