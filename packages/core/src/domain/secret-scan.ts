import { MeshError } from '../errors.js';
import type { Json, JsonObject } from './records.js';
import type { SecretShape } from './secret-shapes.js';
import { secretShapes } from './secret-shapes.js';
import { visibleText } from './visible-text.js';

export interface FoundSecret {
  /** Of the {@link secretShapes}. */
  rule: string;
  /** `payload.env.token`; for a key that is one itself, `a key of payload.env`. Never holds any of the secret. */
  place: string;
}

/** The rule that `text` breaks; null where nothing in it looks like a credential. Linear in the text's length. */
export function secretIn(text: string): string | null {
  return brokenRule(text, likelyShapes(text));
}

/** The first credential among the keys and texts of `value`, in their order; `at` is how errors name `value`. */
export function findSecret(value: Json, at: string): FoundSecret | null {
  // Looked for once in the whole: of most payloads nothing needs a second look. No hint has what JSON escapes.
  const shapes = likelyShapes(JSON.stringify(value));
  return shapes.length === 0 ? null : secretAt(value, at, shapes);
}

function likelyShapes(text: string): readonly SecretShape[] {
  const lower = text.toLowerCase();
  return secretShapes.filter(({ hints }) => hints.some((hint) => lower.includes(hint)));
}

function brokenRule(text: string, shapes: readonly SecretShape[]): string | null {
  for (const { rule, pattern } of shapes) {
    if (!pattern.test(text)) continue;
    // A placeholder may stand before a real one.
    for (const match of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      if (!isPlaceholder(match.groups?.['body'] ?? match[0])) return rule;
    }
  }
  return null;
}

function secretAt(value: Json, at: string, shapes: readonly SecretShape[]): FoundSecret | null {
  if (typeof value === 'string') return found(brokenRule(value, shapes), at);
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return first(value, (item, i) => secretAt(item, `${at}[${i}]`, shapes));
  return first(Object.entries(value), ([key, item]) => {
    // A key is looked at before its name goes into a place.
    const ofKey = found(brokenRule(key, shapes), `a key of ${at}`);
    const place = `${at}.${key}`;
    if (ofKey !== null || typeof item !== 'string') return ofKey ?? secretAt(item, place, shapes);
    // Of some only the name says what they are: `AWS_SECRET_ACCESS_KEY` with forty letters.
    return found(brokenRule(item, shapes) ?? brokenRule(`${key}=${item}`, shapes), place);
  });
}

function first<Item>(items: readonly Item[], look: (item: Item, i: number) => FoundSecret | null): FoundSecret | null {
  for (const [i, item] of items.entries()) {
    const secret = look(item, i);
    if (secret !== null) return secret;
  }
  return null;
}

const found = (rule: string | null, place: string): FoundSecret | null => (rule === null ? null : { rule, place });

/** What documentation writes in a credential's place: `xxxxxxxx`, `****`, `${TOKEN}`, `AKIAIOSFODNN7EXAMPLE`. */
function isPlaceholder(body: string): boolean {
  if (/example(?:key)?$|redacted|placeholder/i.test(body)) return true;
  if (/^(?:\$\{\w{1,100}\}|\$[A-Z_]{2,100}|\{\{?[^{}]{1,100}\}?\}|%s|%[A-Z_]{2,100}%|\[[^[\]]{1,100}\]|…)$/.test(body))
    return true;
  // Of random characters, fewer than four different ones in sixteen do not happen.
  const kinds = new Set(body.toLowerCase().replace(/[-_.]/g, ''));
  return body.length >= 16 ? kinds.size < 4 : /^[x*.]{2,}$/i.test(body);
}

/**
 * For text that goes into the history, which is for ever.
 * @throws MeshError `secret_found` with the rule and the place, and nothing of the secret; `wayOn` says what else to do.
 */
export function refuseSecret(value: JsonObject | string | readonly string[], at: string, wayOn: string): void {
  const secret = findSecret(typeof value === 'string' ? value : (value as JsonObject | string[]), at);
  if (secret === null) return;
  const place = visibleText(secret.place, { maxLength: 200 });
  throw new MeshError(
    'secret_found',
    `${JSON.stringify(place)} looks like a credential (rule ${secret.rule}), and the history of the repository keeps ` +
      `for ever what is written here: nothing was stored. Take it out and hand it over another way; ${wayOn}`,
    { data: { rule: secret.rule, place } },
  );
}
