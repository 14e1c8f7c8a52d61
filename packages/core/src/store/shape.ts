import { isAgentId, isHandle, isIsoTime, isOid, isUlid } from '../domain/ids.js';
import type { Addressee, AgentId, Handle, Oid, Ulid } from '../domain/ids.js';

/** Tells whether a value that was read from a local file has the form it should. */
export type Check<T> = (value: unknown) => value is T;
export type Shape<T> = { readonly [K in keyof T]-?: Check<T[K]> | Check<T[K] | undefined> };

type Textual<T extends string> = (text: string) => text is T;
const textual =
  <T extends string>(is: Textual<T>): Check<T> =>
  (value): value is T =>
    typeof value === 'string' && is(value);

export const text: Check<string> = (value): value is string => typeof value === 'string';
export const flag: Check<boolean> = (value): value is boolean => typeof value === 'boolean';
/** A whole number from 0. */
export const whole: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
export const finite: Check<number> = (value): value is number => Number.isFinite(value);
export const handle: Check<Handle> = textual(isHandle);
export const agent: Check<AgentId> = textual(isAgentId);
export const ulid: Check<Ulid> = textual(isUlid);
export const oid: Check<Oid> = textual(isOid);
export const time: Check<string> = textual(isIsoTime);
export const addressee: Check<Addressee> = (value): value is Addressee => value === '*' || handle(value);

export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value);
export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value);
export const oneOf =
  <T extends string | number>(...values: readonly T[]): Check<T> =>
  (value): value is T =>
    values.some((other) => other === value);
export const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every((item) => check(item));

/**
 * The name of the first field that is not as it should be; null when all are. Fields beyond the shape do not matter.
 * `shape` is a {@link Shape} of any type.
 */
export function wrongField(value: unknown, shape: object): string | null {
  if (!isRecord(value)) return 'the whole';
  // All that a Shape holds.
  const checks = shape as Record<string, Check<unknown>>;
  for (const name in checks) {
    if (!checks[name]?.(Object.hasOwn(value, name) ? value[name] : undefined)) return name;
  }
  return null;
}

export const shaped =
  <T>(shape: Shape<T>): Check<T> =>
  (value): value is T =>
    wrongField(value, shape) === null;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for what is no JSON. */
export function parseJson(source: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof source === 'string' ? source : new TextDecoder('utf-8', { fatal: true }).decode(source));
  } catch (error) {
    // SyntaxError: no JSON. TypeError: no UTF-8.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
