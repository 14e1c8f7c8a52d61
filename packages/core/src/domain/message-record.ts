import { MeshError } from '../errors.js';
import type { AgentId, Addressee } from './ids.js';
import { isHandle } from './ids.js';
import { isJsonObject } from './json.js';
import { isMessageType } from './message-type.js';
import { maxPayloadBytes, payloadBytes } from './payload.js';
import { agentField, anyText, handleField, timeField, ulidField } from './record-fields.js';
import type { Field, RecordFile } from './record-schema.js';
import { mapping, optional, recordFile, text } from './record-schema.js';
import type { JsonObject, MessageRecord } from './records.js';
import { messageTypes } from './records.js';

const addresseeField: Field<Addressee> = text(
  'a machine handle or "*"',
  (value): value is Addressee => value === '*' || isHandle(value),
);

const payloadField: Field<JsonObject> = {
  decode(value, at) {
    if (!isJsonObject(value)) throw new MeshError('invalid_argument', `${at}: expected a mapping`);
    const bytes = payloadBytes(value);
    if (bytes > maxPayloadBytes) {
      throw new MeshError('invalid_argument', `${at}: expected at most ${maxPayloadBytes} bytes of JSON, got ${bytes}`);
    }
    return value;
  },
  encode: (value) => value,
};

interface To {
  machine: Addressee;
  agent?: AgentId;
}

const file: RecordFile<MessageRecord> = recordFile(
  mapping<MessageRecord>({
    id: ulidField,
    type: text(`one of ${messageTypes.join(', ')}`, isMessageType),
    from: mapping<MessageRecord['from']>({ machine: handleField, agent: optional(agentField) }),
    to: mapping<To>({ machine: addresseeField, agent: optional(agentField) }),
    sent_at: timeField,
    expires_at: timeField,
    in_reply_to: optional(ulidField),
    key: optional(anyText(200)),
    payload: payloadField,
  }),
  {
    rule: ({ to }) =>
      to.machine === '*' && to.agent !== undefined ? 'to.agent: expected none in a message to every machine' : null,
  },
);

/** `messages/<to>/<YYYY-MM-DD>/<HHMM>/<ulid>.yaml` as it is stored. */
export function encodeMessage(record: MessageRecord): Uint8Array {
  return file.encode(record);
}

/** @throws MeshError `invalid_argument` naming the key. */
export function decodeMessage(bytes: Uint8Array): MessageRecord {
  return file.decode(bytes);
}
