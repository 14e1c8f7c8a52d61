import { MeshError } from '../../errors.js';
import { isJsonObject, setKey } from '../json.js';
import { maxPayloadBytes, payloadBytes } from '../payload.js';
import type { Json, JsonObject } from '../records.js';
import { isWellFormed, visibleText } from '../visible-text.js';
import { wrongArgument } from './arguments.js';

/** Objects and lists inside one another, the payload itself included. */
const maxPayloadDepth = 64;

const expected = 'a JSON object like {"pr": 12} (left out, it is {})';

/**
 * A copy of the payload that is JSON throughout; `{}` where it was left out, and only there: null is no object.
 * @throws MeshError `invalid_argument`, or `payload_too_large` with `bytes` and `max_bytes`.
 */
export function parsePayload(value: unknown): JsonObject {
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw wrongArgument('payload', expected, value);
  const payload = jsonOf(value, 'payload', 1);
  if (!isJsonObject(payload)) throw wrongArgument('payload', expected, value);
  const bytes = payloadBytes(payload);
  if (bytes > maxPayloadBytes) {
    throw new MeshError(
      'payload_too_large',
      `payload: ${bytes} bytes as compact JSON; at most ${maxPayloadBytes} are sent. Shorten it, or send a link to the rest`,
      { data: { argument: 'payload', bytes, max_bytes: maxPayloadBytes } },
    );
  }
  return payload;
}

function jsonOf(value: unknown, at: string, depth: number): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') return wellFormed(value, at);
  if (typeof value !== 'object') {
    throw new MeshError('invalid_argument', `${where(at)}: expected a JSON value; got a ${typeof value}`);
  }
  if (depth > maxPayloadDepth) {
    throw new MeshError('invalid_argument', `payload: nested deeper than ${maxPayloadDepth} levels; flatten it`);
  }
  if (Array.isArray(value)) return value.map((item, i) => jsonOf(item, `${at}[${i}]`, depth + 1));
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    // As in JSON.stringify: a key without a value is not there.
    if (item !== undefined) setKey(copy, wellFormed(key, at), jsonOf(item, `${at}.${key}`, depth + 1));
  }
  return copy;
}

function wellFormed(text: string, at: string): string {
  if (isWellFormed(text)) return text;
  throw new MeshError(
    'invalid_argument',
    `${where(at)}: holds half of a surrogate pair (a cut emoji?), which UTF-8 cannot carry: take it out`,
  );
}

const where = (at: string): string => visibleText(at, { maxLength: 80 });
