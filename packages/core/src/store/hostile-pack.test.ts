import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { storeForEach } from '../testing/store-for-each.js';
import { hashObject } from './object-id.js';
import { makeDelta } from './pack-delta.js';
import { makePackIndex } from './pack-index-write.js';
import { encodePack, packHeader } from './pack-write.js';
import type { PackPart } from './pack-write.js';

const { store } = storeForEach();

const limits = { maxObjectBytes: 1_000_000, maxInflatedBytes: 3_000_000 };
const idsOf = async (): Promise<Oid[]> => {
  const ids: Oid[] = [];
  for await (const oid of store.objects.ids()) ids.push(oid);
  return ids;
};
const blob = (data: Uint8Array): PackPart & { data: Uint8Array } => ({ type: 'blob', data });

/** Blobs of 100,000 bytes that differ in one number; each but the first a delta of the one before it, or all whole. */
function bombs(count: number, kind: 'whole' | 'deltas'): PackPart[] {
  const parts: PackPart[] = [];
  let before: Uint8Array | null = null;
  for (let n = 0; n < count; n++) {
    const data: Buffer = Buffer.alloc(100_000);
    data.writeUInt32BE(n, 50_000);
    parts.push(
      before === null || kind === 'whole'
        ? blob(data)
        : { base: hashObject('blob', before), delta: makeDelta(before, data) },
    );
    before = data;
  }
  return parts;
}

// A pack of up to 200 objects is unpacked, a larger one stays a pack: both ways have to count.
test.each([
  [31, 'whole'],
  [31, 'deltas'],
  [210, 'whole'],
  [210, 'deltas'],
] as const)('a small pack that inflates to more than is allowed is refused (%i blobs, %s)', async (count, kind) => {
  const pack = await encodePack(bombs(count, kind));
  expect(pack.length).toBeLessThan(100_000);
  const ids = await idsOf();
  await expect(store.objects.installPack(pack, limits)).rejects.toMatchObject({ errorName: 'payload_too_large' });
  expect(await idsOf()).toEqual(ids);
  await store.objects.installPack(await encodePack(bombs(29, kind)), limits);
});

test('a pack that states more objects than any mesh has is refused before one is looked at', async () => {
  const body = packHeader(3_000_001);
  const pack = Buffer.concat([body, createHash('sha1').update(body).digest()]);
  await expect(store.objects.installPack(pack, limits)).rejects.toMatchObject({ errorName: 'payload_too_large' });
});

test('deltas that all stand before their bases cost no more than others', async () => {
  const parts: PackPart[] = [];
  let before = Buffer.from('0'.repeat(100));
  parts.push(blob(before));
  const ids = [hashObject('blob', before)];
  for (let n = 1; n <= 4_000; n++) {
    const data = Buffer.from(`${n} `.padEnd(100, '0'));
    parts.unshift({ base: hashObject('blob', before), delta: makeDelta(before, data) });
    ids.push(hashObject('blob', data));
    before = data;
  }
  const pack = await encodePack(parts);
  // One look at each for each of the others would take a hundred times as long, more than a test may.
  const made = await makePackIndex(pack, { maxObjectBytes: 1_000 });
  expect('index' in made).toBe(true);
  await store.objects.installPack(pack, limits);
  expect(await store.objects.has(ids.at(-1)!)).toBe(true);
  expect(Buffer.from(await store.objects.blob(ids.at(-1)!, 1_000)).equals(before)).toBe(true);
});
