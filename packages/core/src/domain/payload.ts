import type { JsonObject } from './records.js';

/** Of compact UTF-8 JSON. */
export const maxPayloadBytes = 16_384;

/** The size of a payload as compact UTF-8 JSON. */
export function payloadBytes(payload: JsonObject): number {
  return new TextEncoder().encode(JSON.stringify(payload)).length;
}
