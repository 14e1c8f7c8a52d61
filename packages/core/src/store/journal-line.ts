import { crc32 } from 'node:zlib';
import { isMessageType } from '../domain/message-type.js';
import type { MessageType } from '../domain/records.js';
import type { JournalEntry } from './ports.js';
import type { Check, Shape } from './shape.js';
import {
  addressee,
  agent,
  handle,
  isRecord,
  nullable,
  oid,
  oneOf,
  optional,
  parseJson,
  text,
  time,
  ulid,
  whole,
  wrongField,
} from './shape.js';

/** A line of the file: an entry, or the floor of the numbers that come. */
export type JournalLine = JournalEntry | { kind: 'raise'; n: number };

const space = 0x20;
/** Where a line's JSON begins. */
const jsonStart = 9;

const messageType: Check<MessageType> = (value): value is MessageType =>
  typeof value === 'string' && isMessageType(value);

const shapes: { [K in JournalLine['kind']]: Shape<Extract<JournalLine, { kind: K }>> } = {
  message: {
    kind: oneOf('message'),
    n: whole,
    id: ulid,
    sender: handle,
    agent: nullable(agent),
    to: addressee,
    to_agent: nullable(agent),
    type: messageType,
    sent_at: time,
    expires_at: time,
    at: time,
    at_most: optional(time),
    blob: oid,
    path: text,
    seq: whole,
    in_reply_to: nullable(ulid),
    repo: nullable(text),
    reason: nullable(text),
    key: nullable(text),
  },
  cursor: { kind: oneOf('cursor'), sender: handle, commit: oid, seq: whole, at: time },
  pushed: { kind: oneOf('pushed'), remote: text, commit: oid, seq: whole, at: time },
  receipt: { kind: oneOf('receipt'), machine: handle, seq: whole, at: time },
  moved: { kind: oneOf('moved'), id: ulid, seq: whole },
  acked: { kind: oneOf('acked'), id: ulid, machine: handle, agent, at: time },
  raise: { kind: oneOf('raise'), n: whole },
};

/** `<crc32 of the JSON, 8 hex digits> <JSON>\n`. */
export function encodeLine(line: JournalLine): string {
  const json = JSON.stringify(line);
  return `${checksum(json)} ${json}\n`;
}

/** The line without its line feed; the reason why not for one that is damaged. */
export function decodeLine(source: Buffer): JournalLine | { kind: 'damaged'; reason: string; corrupt?: true } {
  // The checksum is of the bytes: what of them is no UTF-8 was never written here.
  if (source[8] !== space || source.toString('latin1', 0, 8) !== checksum(source.subarray(jsonStart)))
    return { ...damaged('its checksum does not match'), corrupt: true };
  const value = parseJson(source.toString('utf8', jsonStart));
  if (!isRecord(value)) return damaged('it is no JSON object');
  if (!isKind(value['kind'])) return damaged('it is of an unknown kind');
  const wrong = wrongField(value, shapes[value['kind']]);
  // The shape of its kind was just checked, field by field.
  return wrong === null ? (value as unknown as JournalLine) : damaged(`its field "${wrong}" is not as expected`);
}

/** The entry of a line that {@link decodeLine} has once found whole and well-formed. */
export function decodeCheckedLine(line: string): JournalLine {
  // It was checked field by field before.
  return JSON.parse(line.slice(jsonStart)) as JournalLine;
}

function isKind(value: unknown): value is JournalLine['kind'] {
  return typeof value === 'string' && Object.hasOwn(shapes, value);
}

const damaged = (reason: string): { kind: 'damaged'; reason: string; corrupt?: true } => ({ kind: 'damaged', reason });

function checksum(json: string | Uint8Array): string {
  return crc32(json).toString(16).padStart(8, '0');
}
