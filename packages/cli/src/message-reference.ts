import { UsageError } from './usage-error.js';

/** A message by its number here (digits) or by its ULID, which the use case checks. */
export function messageReference(text: string): number | string {
  if (!/^\d+$/.test(text) || text.length === 26) return text;
  const number = Number(text);
  if (!Number.isSafeInteger(number)) {
    throw new UsageError(`message number ${text} is too large: expected a number that the inbox shows, or a ULID`);
  }
  return number;
}
