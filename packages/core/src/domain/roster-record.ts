import { handleField, keyField, throughField, timeField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { mapping, optional, recordFile } from './record-schema.js';
import type { RosterRecord } from './records.js';

const file: RecordFile<RosterRecord> = recordFile(
  mapping<RosterRecord>({
    handle: handleField,
    key: keyField,
    admitted_at: optional(timeField),
    revoked_at: optional(timeField),
    through: optional(throughField),
  }),
  { rule: oneStatement },
);

function oneStatement(record: RosterRecord): string | null {
  const revoked = record.revoked_at !== undefined;
  if (revoked === (record.admitted_at !== undefined)) return 'expected exactly one of admitted_at and revoked_at';
  return revoked === (record.through !== undefined) ? null : 'through: expected with revoked_at and only with it';
}

/** `roster/<handle>.yaml` as it is stored. */
export function encodeRoster(record: RosterRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `invalid_argument` naming the key. */
export function decodeRoster(bytes: Uint8Array): RosterRecord {
  return file.decode(bytes);
}
