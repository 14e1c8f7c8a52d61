import { fingerprintField, throughField, timeField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { mapping, recordFile } from './record-schema.js';
import type { ReceiptRecord } from './records.js';

const file: RecordFile<ReceiptRecord> = recordFile(
  mapping<ReceiptRecord>({ delivered_through: throughField, at: timeField, key: fingerprintField }),
);

/** `receipts/<sender>.yaml` as it is stored. */
export function encodeReceipt(record: ReceiptRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `invalid_argument` naming the key. */
export function decodeReceipt(bytes: Uint8Array): ReceiptRecord {
  return file.decode(bytes);
}
