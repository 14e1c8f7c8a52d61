import { MeshError } from '../errors.js';
import { isAgentId, isHandle, isIsoTime, isOid, isUlid } from './ids.js';
import type { AgentId, Handle, IsoTime, Oid, Ulid } from './ids.js';
import { getKey } from './json.js';
import type { Field } from './record-schema.js';
import { integer, mapping, text } from './record-schema.js';
import type { JsonObject } from './records.js';
import { formatVersion } from './records.js';

/** The rules of single keys that several records share. */

export const handleField: Field<Handle> = text('a machine handle', isHandle);
export const agentField: Field<AgentId> = text('an agent_id', isAgentId);
export const ulidField: Field<Ulid> = text('a ULID', isUlid);
const oidField: Field<Oid> = text('a commit id of 40 hex digits', isOid);
export const timeField: Field<IsoTime> = text('an ISO 8601 UTC time with milliseconds', isIsoTime);
export const keyField: Field<string> = text(
  'an Ed25519 public key as one OpenSSH line without a comment',
  (value): value is string => /^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$/.test(value),
);
export const fingerprintField: Field<string> = text('a key fingerprint (SHA256:…)', (value): value is string =>
  /^SHA256:[A-Za-z0-9+/]{43}$/.test(value),
);
export const formatField: Field<number> = integer({ min: 1, max: formatVersion });
export const throughField: Field<{ seq: number; commit: Oid }> = mapping<{ seq: number; commit: Oid }>({
  seq: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  commit: oidField,
});

/** Text of at most `max` UTF-16 units. Its characters may be any: whoever shows it makes them visible. */
export function anyText(max: number): Field<string> {
  return text(`text of at most ${max} characters`, (value): value is string => value.length <= max);
}

/**
 * Looked at before anything else: what a later format holds cannot be judged by the rules of this one.
 * @throws MeshError `format_too_new`
 */
export function checkFormat(value: JsonObject): void {
  const format = getKey(value, 'format');
  if (typeof format === 'number' && format > formatVersion) {
    throw new MeshError(
      'format_too_new',
      `this mesh has format ${format}; this git-mesh reads up to ${formatVersion}: update git-mesh`,
      { data: { format, supported: formatVersion } },
    );
  }
}
