import type { ParsedNode } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { MeshError } from '../errors.js';
import { jsonEqual, setKey } from './json.js';
import type { Json, JsonObject } from './records.js';
import { readOwnYaml } from './own-yaml.js';
import { isWellFormed, visibleText } from './visible-text.js';
import { writeCompactYaml, writeReadableYaml } from './yaml-writer.js';
import { numberOf } from './yaml-number.js';

/** Larger files are refused unread. Every record fits: a payload is at most 16,384 bytes of JSON, which is YAML as it is. */
export const maxFileBytes = 32_768;
/** Collections inside one another; a payload's own limit is lower. */
const maxDepth = 100;
/** A file that would be longer than this is written with its inner collections as compact JSON. */
const readableBytes = 24_576;

const encoder = new TextEncoder();

/**
 * `value` as YAML 1.2, readable and always the same. What is written is read back and compared first, so every JSON
 * value survives unchanged (`-0` too). Keys keep their order.
 * @throws MeshError `invalid_argument` for lone surrogates, numbers that are not finite, and more than {@link maxDepth}
 * levels. A text that does not read back as the same value is a bug of the writer and crashes.
 */
export function encodeYaml(value: Json): string {
  const readable = writeReadableYaml(value, maxDepth);
  const text = encoder.encode(readable).length <= readableBytes ? readable : writeCompactYaml(value);
  if (!jsonEqual(parse(text), value)) throw new Error('the YAML that was written does not read back as the same value');
  return text;
}

/** {@link encodeYaml} as UTF-8. */
export function encodeYamlBytes(value: Json): Uint8Array {
  return encoder.encode(encodeYaml(value));
}

/**
 * One YAML 1.2 document (core schema) as a JSON value, of a file that may be hostile. A key `__proto__` is an ordinary
 * own property. Numbers must be what they say: one that would round or overflow is refused.
 * @throws MeshError `invalid_argument` whose message says why: too large, no UTF-8, no YAML, an alias, anchor, tag or
 * directive, a duplicate key, a key that is no string, several documents, a number, or more than {@link maxDepth} levels.
 */
export function decodeYaml(bytes: Uint8Array, options: { maxBytes?: number } = {}): Json {
  const maxBytes = options.maxBytes ?? maxFileBytes;
  if (bytes.length > maxBytes) throw refusal(`the file is ${bytes.length} bytes long; at most ${maxBytes} are read`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    // TypeError is how TextDecoder says that the bytes are no UTF-8.
    if (error instanceof TypeError) throw refusal('the file is not UTF-8');
    throw error;
  }
  const own = readOwnYaml(text, maxDepth);
  return own === undefined ? parse(text) : own;
}

function parse(text: string): Json {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      stringKeys: true,
      uniqueKeys: true,
      strict: true,
      prettyErrors: false,
      logLevel: 'error',
      keepSourceTokens: false,
    });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) {
      const line = text.slice(0, problem.pos[0]).split('\n').length;
      throw refusal(`no valid YAML at line ${line}: ${visibleText(problem.message, { maxLength: 160 })}`);
    }
    if (hasDirective(text)) throw refusal('the file has a YAML directive; none are read');
    return toJson(document.contents, 0);
  } catch (error) {
    // The parser recurses: what is nested too deeply for its stack is refused like any other bad file.
    if (error instanceof RangeError) throw refusal('the file is nested too deeply');
    throw error;
  }
}

/** Directives stand before the document, among comments and empty lines. */
function hasDirective(text: string): boolean {
  const first = text.split(/\r\n?|\n/).find((line) => line.trim() !== '' && !line.startsWith('#'));
  return first?.startsWith('%') ?? false;
}

function toJson(node: ParsedNode | null, depth: number): Json {
  if (node === null) return null;
  if (depth > maxDepth) throw refusal(`the file is nested deeper than ${maxDepth} levels`);
  if (isAlias(node)) throw refusal('the file has a YAML alias; none are read');
  if (node.anchor !== undefined) throw refusal('the file has a YAML anchor; none are read');
  if (node.tag !== undefined) throw refusal('the file has a YAML tag; none are read');
  if (isMap(node)) {
    const object: JsonObject = {};
    for (const { key, value } of node.items) setKey(object, keyOf(key), toJson(value, depth + 1));
    return object;
  }
  if (isSeq(node)) return node.items.map((item) => toJson(item as ParsedNode | null, depth + 1));
  if (!isScalar(node)) throw refusal('the file has a YAML node of an unknown kind');
  const { value } = node;
  if (typeof value === 'number') return numberOf(value, node.source);
  if (typeof value === 'string') return wellFormed(value);
  if (value === null || typeof value === 'boolean') return value;
  throw refusal(`a value is of the type ${typeof value}; only JSON values are read`);
}

function keyOf(key: ParsedNode): string {
  if (isAlias(key)) throw refusal('the file has a YAML alias; none are read');
  if (key.anchor !== undefined) throw refusal('the file has a YAML anchor; none are read');
  if (key.tag !== undefined) throw refusal('the file has a YAML tag; none are read');
  if (isScalar(key) && typeof key.value === 'string') return wellFormed(key.value);
  throw refusal('a key is not a string');
}

function wellFormed(text: string): string {
  if (isWellFormed(text)) return text;
  throw refusal('a text holds half of a surrogate pair');
}

function refusal(reason: string): MeshError {
  return new MeshError('invalid_argument', reason);
}
