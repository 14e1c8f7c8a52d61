import { createHash } from 'node:crypto';
import type { ObjectType } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';

/** An object's id: the SHA-1 of its header and content. */
export function hashObject(type: ObjectType, data: Uint8Array): Oid {
  // Forty lower-case hex digits are what an Oid is.
  return createHash('sha1').update(objectHeader(type, data.length)).update(data).digest('hex') as Oid;
}

function objectHeader(type: ObjectType, size: number): Uint8Array {
  return Buffer.from(`${type} ${size}\0`, 'latin1');
}

export function isObjectType(text: string): text is ObjectType {
  return text === 'blob' || text === 'tree' || text === 'commit' || text === 'tag';
}
