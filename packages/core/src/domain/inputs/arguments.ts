import { MeshError } from '../../errors.js';
import type { AgentId, Ulid } from '../ids.js';
import { isUlid, parseAgentId } from '../ids.js';
import { getKey, isJsonObject } from '../json.js';
import { nearestName } from '../nearest-name.js';
import type { Json } from '../records.js';
import { hasControl, hasDirectionChange, isWellFormed, visibleText } from '../visible-text.js';

/**
 * The arguments of one call, of which nothing is known yet. Each reader gives undefined where the argument was left out
 * (null counts as left out) and throws MeshError `invalid_argument` naming the argument, what was expected and what came.
 */
export interface Arguments {
  text(name: string, rule: TextRule): string | undefined;
  integer(name: string, range: Range): number | undefined;
  flag(name: string): boolean | undefined;
  agent(name: string): AgentId | undefined;
  /** A message's number here, or its ULID. */
  message(name: string): Ulid | number | undefined;
  raw(name: string): unknown;
  /** As it was given, null included: for what only leaving it out leaves out. */
  given(name: string): unknown;
  /** For an argument that must be there. */
  required<T>(name: string, value: T | undefined): T;
}

interface TextRule {
  /** In characters. */
  max: number;
  /** Where the empty text is wrong. */
  filled?: boolean;
}

export interface Range {
  min: number;
  max: number;
}

/**
 * @throws MeshError `invalid_argument` where `input` is no object, `unknown_argument` for a name that is not among
 * `names`, with the nearest one that is.
 */
export function readArguments(tool: string, names: readonly string[], input: unknown): Arguments {
  if (!isJsonObject(input)) {
    throw new MeshError('invalid_argument', `${tool} takes an object of named arguments: ${names.join(', ')}`);
  }
  for (const name of Object.keys(input)) if (!names.includes(name)) throw unknownArgument(tool, name, names);
  const raw = (name: string): Json | undefined => getKey(input, name) ?? undefined;
  return {
    raw,
    given: (name) => getKey(input, name),
    text(name, rule) {
      const value = raw(name);
      return value === undefined ? undefined : oneLine(name, value, rule);
    },
    integer(name, range) {
      const value = raw(name);
      return value === undefined ? undefined : integerIn(name, value, range);
    },
    flag(name) {
      const value = raw(name);
      if (value === undefined || typeof value === 'boolean') return value;
      throw wrongArgument(name, 'true or false', value);
    },
    agent(name) {
      const value = raw(name);
      if (value === undefined) return undefined;
      if (typeof value === 'string') return parseAgentId(value, { argument: name });
      throw wrongArgument(name, 'the name of an agent', value);
    },
    message(name) {
      const value = raw(name);
      return value === undefined ? undefined : messageName(name, value);
    },
    required(name, value) {
      if (value !== undefined) return value;
      throw new MeshError('invalid_argument', `${tool} needs ${name}`, { data: { argument: name } });
    },
  };
}

function unknownArgument(tool: string, name: string, names: readonly string[]): MeshError {
  const shown = visibleText(name, { maxLength: 60 });
  const nearest = nearestName(name, names);
  const hint = nearest === null ? '' : ` Did you mean "${nearest}"?`;
  return new MeshError('unknown_argument', `${tool} has no argument "${shown}".${hint} It takes: ${names.join(', ')}`, {
    data: { argument: shown, nearest, known: [...names] },
  });
}

function oneLine(name: string, value: Json, rule: TextRule): string {
  if (typeof value !== 'string') throw wrongArgument(name, 'a text', value);
  if (value.length > rule.max) throw wrongArgument(name, `at most ${rule.max} characters`, value.length);
  if (rule.filled === true && value.trim() === '') throw wrongArgument(name, 'a text that is not empty', value);
  return plainLine(name, value);
}

/** One line that neither breaks, acts nor turns its direction where it is shown. */
export function plainLine(name: string, value: string): string {
  if (isWellFormed(value) && !hasControl(value) && !hasDirectionChange(value)) return value;
  throw wrongArgument(name, 'one line of text without control characters', value);
}

export function integerIn(name: string, value: Json, { min, max }: Range): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `in the range ${min}-${max}`;
  throw wrongArgument(name, `a whole number ${range}`, value);
}

/** A message's number or ULID. Numbers written as text are numbers; ULIDs may be lower case. */
export function messageName(name: string, value: Json): Ulid | number {
  if (typeof value === 'number') return integerIn(name, value, { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (typeof value === 'string') {
    const upper = value.toUpperCase();
    if (isUlid(upper)) return upper;
    if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  }
  throw wrongArgument(name, 'a message_id (a whole number) or the ULID of a message', value);
}

export function wrongArgument(name: string, expected: string, got: unknown): MeshError {
  return new MeshError('invalid_argument', `${name}: expected ${expected}; got ${shown(got)}`, {
    data: { argument: name },
  });
}

/** Never fails, whatever the value is, and never shows more than a glimpse of it. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return visibleText(JSON.stringify(value), { maxLength: 80 });
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
