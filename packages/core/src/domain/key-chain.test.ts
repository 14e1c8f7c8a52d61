import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { MachineKey } from '../store/keys.js';
import { verifyBytes } from '../store/raw-signature.js';
import { storeConfig } from '../testing/store-fixture.js';
import { SigningKeys, brokenLink, handoverBytes, keysOf } from './key-chain.js';
import type { MachineRecord } from './records.js';

const keys = Array.from({ length: 3 }, () => new MachineKey(randomBytes(32)));
const lines = keys.map(({ publicLine }) => publicLine);
const { mesh, handle, store } = storeConfig('studio');

function record(change: { handle?: MachineRecord['handle']; signers?: number[] } = {}): MachineRecord {
  const { signers = [0, 1] } = change;
  const previous = signers.map((signer, at) => {
    const [from = '', to = ''] = [lines[at], lines[at + 1]];
    const data = handoverBytes({ mesh: mesh.id, handle: change.handle ?? handle, from, to });
    const signature = Buffer.from(keys[signer]?.signer().signBytes(data) ?? []).toString('base64');
    return { key: from, signature };
  });
  const joined_at = '2026-12-01T09:00:00.000Z' as MachineRecord['joined_at'];
  const key = lines[signers.length] ?? '';
  return { format: 1, mesh: mesh.id, handle, label: null, store, key, joined_at, previous };
}

test('a chain in which each key signed in the next is whole, and names all keys in order', () => {
  expect(keysOf(record())).toEqual(lines);
  expect(brokenLink(record(), verifyBytes)).toBeNull();
  expect(brokenLink({ ...record({ signers: [] }), previous: [] }, verifyBytes)).toBeNull();
});

test('a chain is broken by a key that was signed in by another, for another machine, or twice', () => {
  expect(brokenLink(record({ signers: [0, 0] }), verifyBytes)).toContain('key 3');
  expect(brokenLink(record({ signers: [1, 1] }), verifyBytes)).toContain('key 2');
  expect(brokenLink(record({ handle: storeConfig('laptop').handle }), verifyBytes)).toContain('key 2');
  const [first] = record().previous ?? [];
  if (first === undefined) throw new Error('it has two');
  expect(brokenLink({ ...record(), previous: [first, first] }, verifyBytes)).toContain('twice');
});

test('newest first, a rotation is the last commit of the key that hands over', () => {
  const signing = new SigningKeys(lines, lines[2] ?? '');
  const asked = (['send', 'rotate-key', 'ack', 'rotate-key', 'join'] as const).map((event) => signing.older(event));
  expect(asked).toEqual([lines[2], lines[1], lines[1], lines[0], lines[0]]);
  expect(signing.current).toBe(lines[0]);
  expect(signing.older('rotate-key')).toBeUndefined();
});
