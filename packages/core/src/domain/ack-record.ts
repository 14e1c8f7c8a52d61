import { agentField, timeField, ulidField } from './record-fields.js';
import type { RecordFile } from './record-schema.js';
import { list, mapping, recordFile } from './record-schema.js';
import type { AckRecord } from './records.js';

/** More agents than one machine can have: a file of this many still fits the size cap. */
const maxAcks = 256;

const file: RecordFile<AckRecord> = recordFile(
  mapping<AckRecord>({
    id: ulidField,
    acks: list(mapping<AckRecord['acks'][number]>({ agent: agentField, at: timeField }), { max: maxAcks }),
  }),
);

/** `acks/<sender>/<ulid>.yaml` as it is stored. */
export function encodeAck(record: AckRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `invalid_argument` naming the key. */
export function decodeAck(bytes: Uint8Array): AckRecord {
  return file.decode(bytes);
}
