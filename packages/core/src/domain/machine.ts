import { isOid } from './ids.js';
import { anyText, checkFormat, formatField, handleField, keyField, timeField, ulidField } from './record-fields.js';
import type { Field, RecordFile } from './record-schema.js';
import { list, mapping, nullable, optional, recordFile, text } from './record-schema.js';
import type { MachineRecord } from './records.js';

/** Keys that a machine can have had: each is checked when its branch is first seen. */
export const maxPreviousKeys = 100;
const signatureField: Field<string> = text('an Ed25519 signature in base64', (value): value is string =>
  /^[A-Za-z0-9+/]{86}==$/.test(value),
);
const secretHash = (value: string): value is string => /^[A-Za-z0-9_-]{43}$/.test(value);
const inviteId = (value: string): value is string => /^[A-Za-z0-9_-]{16,43}$/.test(value);

const file: RecordFile<MachineRecord> = recordFile(
  mapping<MachineRecord>({
    format: formatField,
    mesh: ulidField,
    handle: handleField,
    label: nullable(anyText(200)),
    store: ulidField,
    key: keyField,
    joined_at: timeField,
    left_at: optional(timeField),
    previous: optional(
      list(mapping<NonNullable<MachineRecord['previous']>[number]>({ key: keyField, signature: signatureField }), {
        max: maxPreviousKeys,
      }),
    ),
    invite: optional(
      mapping<NonNullable<MachineRecord['invite']>>({
        by: handleField,
        id: text('the id of an invitation', inviteId),
        proof: text('an HMAC-SHA256 in base64url', secretHash),
      }),
    ),
    charter: optional(text('a commit id', isOid)),
  }),
  { before: checkFormat },
);

/** `machine.yaml` as it is stored. */
export function encodeMachine(record: MachineRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `format_too_new`, or `invalid_argument` naming the key. */
export function decodeMachine(bytes: Uint8Array): MachineRecord {
  return file.decode(bytes);
}
