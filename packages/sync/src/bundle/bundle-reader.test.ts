import type { Oid } from '@git-mesh/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BundleReader } from './bundle-reader.js';
import { formatHeader } from './header.js';

const tip = 'a'.repeat(40) as Oid;
const header = formatHeader({ prerequisites: [], refs: [{ ref: 'refs/heads/x', oid: tip }] });
// A pack may hold anything, empty lines too.
const pack = Buffer.from('PACK\n\nand so\n\non');
const whole = Buffer.concat([header, pack]);

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array, void> {
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  for (const [n, place] of places.entries()) {
    yield await Promise.resolve(bytes.subarray(place, places[n + 1] ?? bytes.length));
  }
}

const failure = async (bytes: Uint8Array): Promise<unknown> => {
  try {
    return await BundleReader.open(cutAt(bytes, []));
  } catch (error) {
    return error;
  }
};

test('however the bytes come in parts, header and pack are the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length)), async (cuts) => {
      const reader = await BundleReader.open(cutAt(whole, cuts));
      expect([...reader.header.refs]).toEqual([['refs/heads/x', tip]]);
      expect(Buffer.from(await reader.pack(1_000)).equals(pack)).toBe(true);
    }),
  );
});

test('a pack past the limit is given up before it is all in memory', async () => {
  let asked = 0;
  async function* endless(): AsyncGenerator<Uint8Array, void> {
    yield header;
    for (;;) {
      asked += 1;
      yield await Promise.resolve(Buffer.alloc(1_000));
    }
  }
  const reader = await BundleReader.open(endless());
  await expect(reader.pack(10_000)).rejects.toMatchObject({ errorName: 'payload_too_large' });
  expect(asked).toBeLessThan(12);
  await reader.close();
});

test('a header without an end is given up, and its source is closed', async () => {
  let closed = false;
  async function* endless(): AsyncGenerator<Uint8Array, void> {
    try {
      yield Buffer.from('# v2 git bundle\n');
      const line = Buffer.from(`${tip} refs/heads/x\n`.repeat(20_000));
      for (;;) yield await Promise.resolve(line);
    } finally {
      closed = true;
    }
  }
  await expect(BundleReader.open(endless())).rejects.toMatchObject({ errorName: 'protocol_error' });
  expect(closed).toBe(true);
});

test('what is no bundle is told from a bundle that was cut', async () => {
  for (const text of ['', 'x', '\n\n', 'PACK', '# v4 git bundle\n\n', 'x'.repeat(100_000)]) {
    expect(await failure(Buffer.from(text))).toMatchObject({ errorName: 'invalid_argument', message: /no git bundle/ });
  }
  for (const length of [16, 30, header.length - 1]) {
    expect(await failure(whole.subarray(0, length))).toMatchObject({ errorName: 'protocol_error', message: /cut/ });
  }
});
