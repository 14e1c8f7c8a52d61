import { describe, expect, it } from 'vitest';
import { decodeAck, encodeAck } from './ack-record.js';
import type { AgentId, Handle, Oid, Ulid } from './ids.js';
import { mergeFile } from './merge-file.js';
import { encodePresence } from './presence-record.js';
import { encodeReceipt } from './receipt-record.js';

const id = '01JDZZZZZZZZZZZZZZZZZZZZZZ' as Ulid;
const acks = (...agents: string[]): Uint8Array =>
  encodeAck({ id, acks: agents.map((agent) => ({ agent: agent as AgentId, at: '2026-12-02T10:00:00.000Z' })) });
const presence = (minute: string): Uint8Array =>
  encodePresence({
    agent: 'qa' as AgentId,
    role: null,
    repo: null,
    caps: [],
    status: null,
    status_since: null,
    checked_in_at: '2026-12-02T10:00:00.000Z',
    last_activity_at: `2026-12-02T10:${minute}:00.000Z`,
    expires_at: `2026-12-02T11:${minute}:00.000Z`,
    ttl_seconds: 3600,
  });
const receipt = (seq: number): Uint8Array =>
  encodeReceipt({
    delivered_through: { seq, commit: 'a'.repeat(40) as Oid },
    at: '2026-12-02T10:00:00.000Z',
    key: 'SHA256:PbqRFNhBF6dvWKWzhYnHAFBJqSZrBi8kSIpqcSRPT2I',
  });

describe('a file that both sides of a fork changed', () => {
  it('keeps the acknowledgements of both, each agent once', () => {
    const merged = mergeFile(
      { path: `acks/${'lab' as Handle}/${id}.yaml`, event: 'ack' },
      {
        there: acks('a', 'b'),
        after: acks('B', 'c'),
      },
    );
    expect(decodeAck(merged ?? new Uint8Array()).acks.map(({ agent }) => agent)).toEqual(['a', 'b', 'c']);
  });

  it('keeps the later presence, and prunes none that was renewed', () => {
    const at = { path: 'presence/qa.yaml', event: 'renew' } as const;
    expect(mergeFile(at, { there: presence('30'), after: presence('20') })).toEqual(presence('30'));
    expect(mergeFile(at, { there: presence('30'), after: presence('40') })).toEqual(presence('40'));
    expect(mergeFile({ ...at, event: 'prune' }, { there: presence('30'), after: null })).toEqual(presence('30'));
    expect(mergeFile({ ...at, event: 'checkout' }, { there: presence('30'), after: null })).toBeNull();
    expect(mergeFile(at, { there: null, after: presence('40') })).toBeNull();
  });

  it('keeps the receipt that reaches further, and takes the change where the other cannot be read', () => {
    const at = { path: 'receipts/lab.yaml', event: 'receipt' } as const;
    expect(mergeFile(at, { there: receipt(9), after: receipt(8) })).toEqual(receipt(9));
    expect(mergeFile(at, { there: Buffer.from('?'), after: receipt(8) })).toEqual(receipt(8));
  });
});
