import { anyText, checkFormat, formatField, handleField, keyField, timeField, ulidField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { mapping, recordFile, text } from './record-schema.js';
import type { CharterRecord } from './records.js';

const file: RecordFile<CharterRecord> = recordFile(
  mapping<CharterRecord>({
    format: formatField,
    mesh: ulidField,
    name: anyText(200),
    policy: text('open or roster', (value): value is 'open' | 'roster' => value === 'open' || value === 'roster'),
    created_at: timeField,
    founder: mapping<CharterRecord['founder']>({ handle: handleField, key: keyField }),
  }),
  { before: checkFormat },
);

/** `mesh.yaml` as it is stored. */
export function encodeCharter(record: CharterRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `format_too_new`, or `invalid_argument` naming the key. */
export function decodeCharter(bytes: Uint8Array): CharterRecord {
  return file.decode(bytes);
}
