import type { JsonSchema, ObjectSchema } from './json-schema.js';

/** Pieces of the tools' schemas. Optional parts of a result are left optional, so that one schema covers all its forms. */

export const text: JsonSchema = { type: 'string' };
export const textOrNull: JsonSchema = { type: ['string', 'null'] };
export const integer: JsonSchema = { type: 'integer' };
const integerOrNull: JsonSchema = { type: ['integer', 'null'] };
export const flag: JsonSchema = { type: 'boolean' };
export const anyObject: JsonSchema = { type: 'object' };

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

export function objectOf(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required };
}

/** Closed: a client that checks arguments itself then catches a misspelt name before the mesh does. */
export function inputOf(properties: Record<string, JsonSchema>, required: string[] = []): ObjectSchema {
  const closed: ObjectSchema = { type: 'object', properties, additionalProperties: false };
  return required.length === 0 ? closed : { ...closed, required };
}

// Every tool has it, and tools/list is in every agent's context: what its parts are, their names say.
const error = objectOf({}, ['code', 'name', 'message']);

/** No `required` at the top: a failed call gives `{error}` alone, and clients validate that too. */
export function outputOf(properties: Record<string, JsonSchema>): ObjectSchema {
  return { type: 'object', properties: { ...properties, error } };
}

export const confirm: JsonSchema = described(flag, 'true acts; without it you get a preview and nothing changes.');

/** A message as an argument: its number on this machine, or the ULID that names it everywhere. */
export function messageReference(description: string): JsonSchema {
  return { anyOf: [{ type: 'string' }, { type: 'integer' }], description };
}

const problem = { type: ['object', 'null'] };

export const sync: JsonSchema = described(
  objectOf({ state: text, last_ok_at: textOrNull, queued: integer, error: problem }),
  'How current this is. state: ok, partial, offline or none (no remote).',
);

/** An agent's presence; the fields of `agent_checkin`'s own result too. */
export const recordFields: Record<string, JsonSchema> = {
  agent_id: text,
  machine: text,
  role: textOrNull,
  repo: textOrNull,
  caps: listOf(text),
  status: textOrNull,
  status_since: textOrNull,
  status_age_s: integerOrNull,
  checked_in_at: text,
  last_activity_at: text,
  expires_at: text,
  ttl_seconds: integer,
  alive: flag,
};

export const freezes: JsonSchema = described(
  listOf(
    objectOf({
      message_id: integerOrNull,
      id: text,
      machine: text,
      agent: textOrNull,
      repo: textOrNull,
      reason: textOrNull,
      since: text,
      expires_at: text,
    }),
  ),
  'In force on this machine; repo null covers every repo.',
);
