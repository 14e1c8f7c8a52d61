import { fromIso } from './ids.js';
import { ttlRange } from './presence.js';
import { agentField, anyText, timeField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { integer, list, mapping, nullable, recordFile } from './record-schema.js';
import type { PresenceRecord } from './records.js';

const file: RecordFile<PresenceRecord> = recordFile(
  mapping<PresenceRecord>({
    agent: agentField,
    role: nullable(anyText(200)),
    repo: nullable(anyText(200)),
    caps: list(anyText(64), { max: 32 }),
    status: nullable(anyText(500)),
    status_since: nullable(timeField),
    checked_in_at: timeField,
    last_activity_at: timeField,
    expires_at: timeField,
    ttl_seconds: integer(ttlRange),
  }),
  { rule: lifeRule },
);

/** A record cannot claim a longer life than its ttl gives it: an agent would look alive for ever. */
function lifeRule(record: PresenceRecord): string | null {
  const life = fromIso(record.expires_at) - fromIso(record.last_activity_at);
  return life <= record.ttl_seconds * 1000
    ? null
    : 'expires_at: expected no later than last_activity_at plus ttl_seconds';
}

/** `presence/<agent>.yaml` as it is stored. */
export function encodePresence(record: PresenceRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `invalid_argument` naming the key. */
export function decodePresence(bytes: Uint8Array): PresenceRecord {
  return file.decode(bytes);
}
