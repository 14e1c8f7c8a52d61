import { MeshError } from '../errors.js';
import { decodeYaml, encodeYamlBytes, maxFileBytes } from './codec.js';
import { getKey, isJsonObject, setKey } from './json.js';
import type { Json, JsonObject } from './records.js';
import { visibleText } from './visible-text.js';

/**
 * Under this key a decoded record (or a mapping inside it) carries what its file held beyond the keys we know. Being a
 * symbol it is in nobody's way, and `{ ...record, left_at }` takes it along, so that an edited record still has it.
 * Absent where there was nothing unknown.
 */
export const unknownKeys: unique symbol = Symbol('unknown keys');

/** One key's rule: from the file's value to the record's, and back. */
export interface Field<T> {
  /** `at` names the key in errors: `from.machine`. @throws MeshError `invalid_argument` */
  decode(value: Json, at: string): T;
  encode(value: T): Json;
  /** The key may be left out. */
  readonly optional?: true;
}

/** The keys of a mapping in the order in which they are written. */
type Shape<T> = { readonly [K in keyof T]-?: Field<NonNullable<T[K]>> | Field<T[K]> };

/** A mapping with fixed keys. Keys beyond them are kept under {@link unknownKeys} and written after the known ones. */
export function mapping<T extends object>(shape: Shape<T>): Field<T> {
  // Object.entries forgets which rule belongs to which key; Shape has checked that.
  const fields = Object.entries<Field<unknown>>(shape);
  const known = new Set(fields.map(([key]) => key));
  return {
    decode(value, at) {
      if (!isJsonObject(value)) throw wrong(at, 'a mapping', value);
      const record: Record<string | symbol, unknown> = {};
      for (const [key, field] of fields) {
        const item = getKey(value, key);
        const path = at === '' ? key : `${at}.${key}`;
        if (item !== undefined) record[key] = field.decode(item, path);
        else if (field.optional !== true) throw new MeshError('invalid_argument', `the key ${path} is missing`);
      }
      const unknown: JsonObject = {};
      for (const key of Object.keys(value)) if (!known.has(key)) setKey(unknown, key, getKey(value, key) ?? null);
      if (Object.keys(unknown).length > 0) record[unknownKeys] = unknown;
      return record as T;
    },
    encode(record) {
      const values = record as Record<string | symbol, unknown>;
      const out: JsonObject = {};
      for (const [key, field] of fields) if (values[key] !== undefined) out[key] = field.encode(values[key]);
      const unknown = values[unknownKeys];
      if (isJsonObject(unknown)) {
        for (const key of Object.keys(unknown)) setKey(out, key, getKey(unknown, key) ?? null);
      }
      return out;
    },
  };
}

export function optional<T>(field: Field<T>): Field<T> {
  return { ...field, optional: true };
}

export function nullable<T>(field: Field<T>): Field<T | null> {
  return {
    decode: (value, at) => (value === null ? null : field.decode(value, at)),
    encode: (value) => (value === null ? null : field.encode(value)),
  };
}

export function list<T>(field: Field<T>, options: { max: number }): Field<T[]> {
  return {
    decode(value, at) {
      if (!Array.isArray(value)) throw wrong(at, 'a list', value);
      if (value.length > options.max) throw wrong(at, `at most ${options.max} items`, value.length);
      return value.map((item, i) => field.decode(item, `${at}[${i}]`));
    },
    encode: (items) => items.map((item) => field.encode(item)),
  };
}

/** Text that `accepts` takes; `expected` says in words what that is. */
export function text<T extends string>(expected: string, accepts: (value: string) => value is T): Field<T> {
  return {
    decode(value, at) {
      if (typeof value === 'string' && accepts(value)) return value;
      throw wrong(at, expected, value);
    },
    encode: (value) => value,
  };
}

export function integer(range: { min: number; max: number }): Field<number> {
  return {
    decode(value, at) {
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= range.min && value <= range.max)
        return value;
      throw wrong(at, `a whole number from ${range.min} to ${range.max}`, value);
    },
    encode: (value) => value,
  };
}

/** A record's file: its bytes from the record, and the record from bytes that may be anything. */
export interface RecordFile<T> {
  /** @throws MeshError `invalid_argument` for a record that could not be read back. */
  encode(record: T): Uint8Array;
  /** @throws MeshError `invalid_argument` whose message names the key. */
  decode(bytes: Uint8Array): T;
}

/** `rule` checks what no single key can; it gives a reason or null. */
export function recordFile<T extends object>(
  schema: Field<T>,
  options: { rule?: (record: T) => string | null; before?: (value: JsonObject) => void } = {},
): RecordFile<T> {
  return {
    encode(record) {
      const value = schema.encode(record);
      // What is written must be readable by these very rules; TypeScript checks no ranges.
      read(value);
      const bytes = encodeYamlBytes(value);
      if (bytes.length > maxFileBytes) throw wrong('', `at most ${maxFileBytes} bytes`, bytes.length);
      return bytes;
    },
    decode(bytes) {
      return read(decodeYaml(bytes));
    },
  };

  function read(value: Json): T {
    if (!isJsonObject(value)) throw wrong('', 'a mapping', value);
    options.before?.(value);
    const record = schema.decode(value, '');
    const reason = options.rule?.(record) ?? null;
    if (reason !== null) throw new MeshError('invalid_argument', reason);
    return record;
  }
}

function wrong(at: string, expected: string, got: Json): MeshError {
  const shown = isJsonObject(got)
    ? 'a mapping'
    : Array.isArray(got)
      ? 'a list'
      : visibleText(JSON.stringify(got), { maxLength: 60 });
  return new MeshError('invalid_argument', `${at === '' ? 'the file' : at}: expected ${expected}, got ${shown}`);
}
