import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import { decodeAck, encodeAck } from './ack-record.js';
import { decodeCharter, encodeCharter } from './charter.js';
import type { AgentId, Handle, Oid, Ulid } from './ids.js';
import { decodeMachine, encodeMachine } from './machine.js';
import { decodeMessage, encodeMessage } from './message-record.js';
import { decodePresence, encodePresence } from './presence-record.js';
import { decodeReceipt, encodeReceipt } from './receipt-record.js';
import { unknownKeys } from './record-schema.js';
import type {
  AckRecord,
  CharterRecord,
  MachineRecord,
  MessageRecord,
  PresenceRecord,
  ReceiptRecord,
  RosterRecord,
} from './records.js';
import { decodeRoster, encodeRoster } from './roster-record.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

const ulid = '01KBEST0000000000000000001' as Ulid;
const studio = 'studio' as Handle;
const builder = 'Builder' as AgentId;
const commit = 'c'.repeat(40) as Oid;
const key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)}`;
const at = '2026-12-02T05:00:00.000Z';
const later = '2026-12-02T06:00:00.000Z';

const charter: CharterRecord = {
  format: 1,
  mesh: ulid,
  name: 'shop',
  policy: 'open',
  created_at: at,
  founder: { handle: studio, key },
};
const machine: MachineRecord = { format: 1, mesh: ulid, handle: studio, label: null, store: ulid, key, joined_at: at };
const presence: PresenceRecord = {
  agent: builder,
  role: 'builder',
  repo: null,
  caps: ['merge'],
  status: 'no',
  status_since: at,
  checked_in_at: at,
  last_activity_at: at,
  expires_at: later,
  ttl_seconds: 3600,
};
const message: MessageRecord = {
  id: ulid,
  type: 'note',
  from: { machine: studio, agent: builder },
  to: { machine: '*' },
  sent_at: at,
  expires_at: later,
  payload: { a: [1, null, 'x'] },
};
const ack: AckRecord = { id: ulid, acks: [{ agent: builder, at }] };
const receipt: ReceiptRecord = { delivered_through: { seq: 3, commit }, at, key: `SHA256:${'a'.repeat(43)}` };
const roster: RosterRecord = { handle: studio, key, revoked_at: at, through: { seq: 3, commit } };

/** Each record with its codec, loosely typed so that one table holds them all. */
interface Row {
  name: string;
  record: object;
  encode: () => Uint8Array;
  decode: (data: Uint8Array) => object;
  again: (data: Uint8Array) => Uint8Array;
}
function row<T extends object>(
  name: string,
  record: T,
  encode: (record: T) => Uint8Array,
  decode: (data: Uint8Array) => T,
): Row {
  return { name, record, encode: () => encode(record), decode, again: (data) => encode(decode(data)) };
}
const rows: Row[] = [
  row('charter', charter, encodeCharter, decodeCharter),
  row('machine', machine, encodeMachine, decodeMachine),
  row('presence', presence, encodePresence, decodePresence),
  row('message', message, encodeMessage, decodeMessage),
  row('ack', ack, encodeAck, decodeAck),
  row('receipt', receipt, encodeReceipt, decodeReceipt),
  row('roster', roster, encodeRoster, decodeRoster),
];

describe.each(rows)('the $name record', ({ record, encode, decode, again }) => {
  it('comes back as it was', () => {
    expect(decode(encode())).toStrictEqual(record);
    expect(again(encode())).toEqual(encode());
  });

  it('is written in the order of its type, whatever order the object has', () => {
    const keys = text(encode())
      .split('\n')
      .flatMap((line) => /^([a-z_]+):/.exec(line)?.[1] ?? []);
    expect(keys).toEqual(Object.keys(record));
  });

  it('keeps keys it does not know, after those it does', () => {
    const file = `x_new:\n  - "no"\n__proto__: 1\n${text(encode())}`;
    const decoded = decode(bytes(file));
    expect(Object.fromEntries(Object.entries(decoded))).toEqual(record);
    expect(Object.getOwnPropertySymbols(decoded)).toEqual([unknownKeys]);
    expect(text(again(bytes(file)))).toBe(`${text(encode())}x_new:\n  - "no"\n__proto__: 1\n`);
    expect(again(again(bytes(file)))).toEqual(again(bytes(file)));
  });

  it('is refused without any one of the keys it must have', () => {
    for (const [name] of Object.entries(record)) {
      const optional = ['revoked_at', 'through'].includes(name);
      const lines = text(encode()).split('\n');
      const start = lines.findIndex((line) => line.startsWith(`${name}:`));
      let end = start + 1;
      while (lines[end]?.startsWith(' ') === true) end += 1;
      lines.splice(start, end - start);
      expect(() => decode(bytes(lines.join('\n')))).toThrow(optional ? /expected/ : `the key ${name} is missing`);
    }
  });

  it.each(['', '- a\n', 'text\n', '{}\n', '[[[[', 'a: &a 1\n', '\u0000\u0001'])('is not read from %j', (file) => {
    expect(() => decode(bytes(file))).toThrow(MeshError);
  });
});

describe('a record', () => {
  it('keeps unknown keys inside its mappings, and through an edit', () => {
    const file =
      text(encodeMessage(message)).replace('  agent: Builder\n', '  agent: Builder\n  model: x\n') + 'priority: 3\n';
    const decoded = decodeMessage(bytes(file));
    const edited = { ...decoded, key: 'k' };
    expect(text(encodeMessage(edited))).toBe(file.replace('payload:', 'key: k\npayload:'));
  });

  const change = (encode: Uint8Array, from: string | RegExp, to: string): Uint8Array => {
    const changed = text(encode).replace(from, to);
    expect(changed).not.toBe(text(encode));
    return bytes(changed);
  };
  it.each<[string, string | RegExp, string, string]>([
    ['agent', 'agent: Builder', 'agent: ../x', 'agent: expected an agent_id'],
    ['role', 'role: builder', 'role: 3', 'role: expected text'],
    ['role', 'role: builder', `role: ${'x'.repeat(201)}`, 'role: expected text of at most 200'],
    ['caps', 'caps:\n  - merge', 'caps: merge', 'caps: expected a list'],
    ['caps', '- merge', '- 1', 'caps[0]: expected text'],
    ['caps', '- merge', `- ${'x'.repeat(65)}`, 'caps[0]: expected text of at most 64'],
    ['caps', '- merge', '- merge\n'.repeat(33).trim().replaceAll('\n', '\n  '), 'caps: expected at most 32'],
    ['status', '"no"', 'false', 'status: expected text'],
    ['status_since', /status_since: .*/, 'status_since: 2026-12-02', 'status_since: expected an ISO'],
    ['expires_at', later, '2026-12-02T06:00:00.001Z', 'expires_at: expected no later than'],
    ['ttl_seconds', '3600', '59', 'ttl_seconds: expected a whole number from 60 to 86400, got 59'],
    ['ttl_seconds', '3600', '3600.5', 'ttl_seconds: expected a whole number'],
    ['ttl_seconds', '3600', '"3600"', 'ttl_seconds: expected a whole number'],
  ])('of presence with a wrong %s is refused', (_, from, to, why) => {
    expect(() => decodePresence(change(encodePresence(presence), from, to))).toThrow(why);
  });

  it.each<[string, string | RegExp, string, string]>([
    ['id', ulid, ulid.toLowerCase(), 'id: expected a ULID'],
    ['type', 'type: note', 'type: memo', 'type: expected one of ping, pr-ready'],
    ['sender', 'machine: studio', 'machine: Studio', 'from.machine: expected a machine handle'],
    ['sending agent', 'agent: Builder', 'agent: con', 'from.agent: expected an agent_id'],
    ['sender', /from:\n.*\n.*\n/, 'from: studio\n', 'from: expected a mapping'],
    ['addressee', '"*"', '_all', 'to.machine: expected a machine handle or "*"'],
    ['addressee', '"*"', '"*"\n  agent: x', 'to.agent: expected none'],
    ['payload', /payload:[^]*/, 'payload: []\n', 'payload: expected a mapping'],
    ['payload', /payload:[^]*/, `payload: {a: "${'x'.repeat(16_400)}"}\n`, 'payload: expected at most 16384 bytes'],
  ])('of a message with a wrong %s is refused', (_, from, to, why) => {
    expect(() => decodeMessage(change(encodeMessage(message), from, to))).toThrow(why);
  });

  it('of a receipt is refused with a wrong commit, counter or fingerprint', () => {
    const file = encodeReceipt(receipt);
    expect(() => decodeReceipt(change(file, 'ccc', 'ggg'))).toThrow('delivered_through.commit');
    expect(() => decodeReceipt(change(file, 'seq: 3', 'seq: 0'))).toThrow('delivered_through.seq');
    expect(() => decodeReceipt(change(file, 'SHA256', 'MD5'))).toThrow('key: expected a key fingerprint');
  });

  it('that could not be read back is not written', () => {
    expect(() => encodePresence({ ...presence, ttl_seconds: 1 })).toThrow('ttl_seconds');
    const acks = Array.from({ length: 256 }, (_, i) => ({ agent: `${'a'.repeat(60)}${i}` as AgentId, at }));
    expect(decodeAck(encodeAck({ id: ulid, acks })).acks).toHaveLength(256);
    expect(() => encodeAck({ id: ulid, acks: [...acks, { agent: builder, at }] })).toThrow('at most 256');
    const full = decodeAck(bytes(`${text(encodeAck(ack))}x: ${'y'.repeat(32_000)}\n`));
    expect(() => encodeAck({ ...full, acks })).toThrow('at most 32768 bytes');
  });

  it('of the roster admits or revokes, and only a revocation says through where', () => {
    const admitted: RosterRecord = { handle: studio, key, admitted_at: at };
    expect(decodeRoster(encodeRoster(admitted))).toStrictEqual(admitted);
    expect(() => decodeRoster(encodeRoster({ ...roster, admitted_at: at }))).toThrow('exactly one');
    expect(() => decodeRoster(encodeRoster({ handle: studio, key }))).toThrow('exactly one');
    expect(() => decodeRoster(encodeRoster({ ...admitted, through: { seq: 1, commit } }))).toThrow('through');
  });

  it('of a key that is none, or has a comment, is refused', () => {
    for (const bad of ['ssh-rsa AAAA', `${key} me@studio`, `${key}\n`, `${key}=`])
      expect(() => decodeMachine(encodeMachine({ ...machine, key: bad }))).toThrow(
        'key: expected an Ed25519 public key',
      );
  });

  it('of a later format is refused with what to do, before anything else in it is judged', () => {
    for (const decode of [decodeCharter, decodeMachine]) {
      try {
        decode(bytes('format: 2\nkeys: [all, new]\n'));
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ errorName: 'format_too_new', data: { format: 2, supported: 1 } });
        expect((error as Error).message).toContain('update git-mesh');
      }
    }
    expect(() => decodeMachine(bytes('format: 0\n'))).toThrow(/format: expected a whole number/);
    expect(() => decodeMachine(bytes('format: "2"\n'))).toThrow(/format: expected a whole number/);
  });
});
