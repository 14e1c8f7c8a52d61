import { anyText, checkFormat, formatField, handleField, keyField, timeField, ulidField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { mapping, nullable, optional, recordFile } from './record-schema.js';
import type { MachineRecord } from './records.js';

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
