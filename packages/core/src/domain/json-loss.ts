import { textPlace } from './json-error-position.js';
import type { TextPlace } from './json-error-position.js';
import { JsonScanner, JsonStop } from './json-scanner.js';
import { visibleText } from './visible-text.js';

/** What JSON.parse would change without a word. `shown` is safe to print. */
export type JsonLoss = TextPlace &
  (
    | { kind: 'number'; shown: string; /** What it would become. */ becomes: string }
    | { kind: 'duplicate key'; /** In quotation marks. */ shown: string }
  );

/**
 * The first number in JSON text that would come back as another one, or key that an object has twice; null where
 * nothing is lost, where `text` is not JSON, and where it is nested too deeply to be looked at.
 */
export function jsonLoss(text: string): JsonLoss | null {
  let loss: JsonLoss | null = null;
  const objects: Set<string>[] = [];
  const found = (next: JsonLoss): void => {
    loss ??= next;
  };
  const scanner = new JsonScanner(text, {
    number(written, offset) {
      if (isExact(written)) return;
      const becomes = String(Number(written));
      found({ kind: 'number', shown: visibleText(written, { maxLength: 60 }), becomes, ...textPlace(text, offset) });
    },
    openObject: () => void objects.push(new Set()),
    key(token, offset) {
      const keys = objects.at(-1);
      const key = String(JSON.parse(token));
      if (keys?.has(key) === true) {
        const shown = visibleText(token, { maxLength: 60 });
        found({ kind: 'duplicate key', shown, ...textPlace(text, offset) });
      }
      keys?.add(key);
    },
    closeObject: () => void objects.pop(),
  });
  try {
    scanner.document();
    return loss;
  } catch (error) {
    // Whoever parses the text says so better, and refuses what is nested that deeply.
    if (error instanceof JsonStop || error instanceof RangeError) return null;
    throw error;
  }
}

/** What is wrong and what to do about it; `where` names its place for a reader who has the text before them. */
export function lossText(loss: JsonLoss, where = ''): string {
  const at = where === '' ? '' : ` (${where})`;
  return loss.kind === 'number'
    ? `the number ${loss.shown}${at} would arrive as ${loss.becomes}: write it as a string, in quotation marks`
    : `the key ${loss.shown}${at} is there twice in one object, and one of them would be lost: leave one out, or rename it`;
}

/** True where the number means exactly what JavaScript's nearest double is written as: 1.0 and 1e2 are, 2^53 + 1 is not. */
function isExact(written: string): boolean {
  const value = Number(written);
  const wanted = decimal(written);
  if (!Number.isFinite(value) || wanted === null) return value === 0;
  const got = decimal(String(value));
  return got !== null && got.digits === wanted.digits && got.exponent === wanted.exponent;
}

/** A number's significant digits without zeros at either end, and the power of ten of the last one; null for zero. */
function decimal(written: string): { digits: string; exponent: number } | null {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = withoutZerosAtEnd(all);
  if (digits === '') return null;
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) };
}

/** Not by a pattern: `0+$` takes quadratic time on zeros that are not at the end. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}
