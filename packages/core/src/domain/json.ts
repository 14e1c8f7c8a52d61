import type { Json, JsonObject } from './records.js';

/** Sets an own property whatever its name is: assigning to `__proto__` would set the prototype. */
export function setKey(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** An own property or undefined; never something inherited, as `constructor` would be. */
export function getKey(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Same value, same order of keys; `-0` is not `0`. */
export function jsonEqual(a: Json, b: Json): boolean {
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => jsonEqual(item, b[i] ?? null));
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    const others = Object.keys(b);
    return (
      keys.length === others.length &&
      keys.every((key, i) => key === others[i] && jsonEqual(getKey(a, key) ?? null, getKey(b, key) ?? null))
    );
  }
  return Object.is(a, b);
}
