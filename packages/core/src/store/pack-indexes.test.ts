import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import type { Fs } from './fs.js';
import { IndexPages } from './index-pages.js';
import type { IndexFile, PagePlace } from './index-pages.js';
import { nodeFs } from './node-fs.js';
import { PackIndex } from './pack-index.js';
import { indexHeadBytes } from './pack-index-format.js';
import { encodeIndex } from './pack-index-write.js';
import { PackIndexes } from './pack-indexes.js';

const { folder, store } = storeForEach();
let place: string;
beforeEach(() => {
  place = join(folder.path, 'packs');
  mkdirSync(place);
});

const keyOf = (n: number): Buffer => createHash('sha1').update(`object ${n}`).digest();
// Twenty bytes in hex are an id.
const idOf = (n: number): Oid => keyOf(n).toString('hex') as Oid;
const offsetOf = (n: number): number => 12 + n * 100;

/** The index of a pack with the objects `from` to before `to`. */
function indexOf(from: number, to: number): Buffer {
  const objects = Array.from({ length: to - from }, (_, n) => ({
    oid: keyOf(from + n),
    crc: from + n,
    offset: offsetOf(from + n),
  }));
  return Buffer.from(encodeIndex(objects, Buffer.alloc(20, 7)));
}
const pathOf = (pack: string): string => join(place, `${pack}.idx`);
/** As every writer of packs does: under its name at once. */
const put = (pack: string, index: Uint8Array): void => {
  writeFileSync(join(place, 'tmp'), index);
  renameSync(join(place, 'tmp'), pathOf(pack));
};
const indexes = (fs: Fs = nodeFs): PackIndexes => new PackIndexes(fs, place);

/** The disk, with the bytes that were read of it and the files that are open. */
class Measured {
  bytes = 0;
  files = 0;
  readonly fs: Fs = {
    ...nodeFs,
    open: async (path, how) => {
      const file = await nodeFs.open(path, how);
      this.files += 1;
      return {
        ...file,
        read: async (offset, length) => {
          const bytes = await file.read(offset, length);
          this.bytes += bytes.length;
          return bytes;
        },
        close: async () => {
          await file.close();
          this.files -= 1;
        },
      };
    },
  };
}

it.each([1, 500, 5_000])('finds each of %i objects where it stands, and no other', async (count) => {
  put('pack-a', indexOf(0, count));
  const packs = indexes();
  for (let n = 0; n < count; n++) expect(await packs.find(idOf(n))).toEqual({ pack: 'pack-a', offset: offsetOf(n) });
  for (let n = count; n < count + 50; n++) expect(await packs.find(idOf(n))).toBeNull();
  for (const byte of ['00', '80', 'ff']) expect(await packs.find(byte.repeat(20) as Oid)).toBeNull();
});

it('reads a few pages of a large index for one object, none for it again, and leaves nothing open', async () => {
  put('pack-a', indexOf(0, 40_000));
  const disk = new Measured();
  const packs = indexes(disk.fs);
  expect(await packs.find(idOf(12_345))).toEqual({ pack: 'pack-a', offset: offsetOf(12_345) });
  const { bytes } = disk;
  expect(bytes).toBeLessThan(80_000);
  expect(await packs.places(idOf(12_345))).toHaveLength(1);
  expect(disk.bytes).toBe(bytes);
  expect(disk.files).toBe(0);
});

it('finds objects whose ids share their first bytes', async () => {
  const oids = Array.from({ length: 3_000 }, (_, n) => Buffer.concat([Buffer.alloc(17, 9), keyOf(n).subarray(0, 3)]));
  const objects = [...new Map(oids.map((oid) => [oid.toString('hex'), oid])).values()];
  put(
    'pack-a',
    encodeIndex(
      objects.map((oid, n) => ({ oid, crc: n, offset: offsetOf(n) })),
      Buffer.alloc(20),
    ),
  );
  const packs = indexes();
  for (const oid of oids) expect(await packs.has(oid.toString('hex') as Oid)).toBe(true);
  expect(await packs.has(idOf(1))).toBe(false);
});

it('an index that was replaced under its name tells of the new pack, not of both', async () => {
  put('pack-a', indexOf(0, 5_000));
  const packs = indexes();
  expect(await packs.has(idOf(1))).toBe(true);
  // As many objects and as many bytes, from another time.
  put('pack-a', indexOf(2_500, 7_500));
  utimesSync(pathOf('pack-a'), 1_000, 1_000);
  for (let n = 5_000; n < 7_500; n += 50)
    expect(await packs.find(idOf(n))).toEqual({ pack: 'pack-a', offset: offsetOf(n) });
});

it('an index that went away hides nothing that another pack has, and what it alone had is gone', async () => {
  put('pack-a', indexOf(0, 5_000));
  const packs = indexes();
  expect(await packs.has(idOf(1))).toBe(true);
  put('pack-b', indexOf(100, 5_000));
  rmSync(pathOf('pack-a'));
  for (let n = 100; n < 5_000; n += 50) expect((await packs.find(idOf(n)))?.pack).toBe('pack-b');
  expect(await packs.has(idOf(5_001))).toBe(false);
  await packs.refresh();
  for (let n = 0; n < 100; n++) expect(await packs.find(idOf(n))).toBeNull();
});

it('packs that take turns, each gone once the next is there, hide nothing between two looks', async () => {
  put('pack-0', indexOf(0, 3_000));
  let turn = 0;
  // Before each look into a file, another process repacks.
  const fs: Fs = {
    ...nodeFs,
    open: async (path, how) => {
      if (turn < 6) {
        put(`pack-${turn + 1}`, indexOf(0, 3_000));
        rmSync(pathOf(`pack-${turn}`));
        turn += 1;
      }
      return nodeFs.open(path, how);
    },
  };
  expect((await indexes(fs).find(idOf(77)))?.offset).toBe(offsetOf(77));
});

const whole = indexOf(0, 5_000);
it.each([
  ['is empty', Buffer.alloc(0)],
  ['is cut in its head', whole.subarray(0, indexHeadBytes - 1)],
  ['is cut in its ids', whole.subarray(0, 50_000)],
  ['is cut by one byte', whole.subarray(0, -1)],
  ['is of version 1', whole.subarray(8)],
  ['is of version 3', Buffer.concat([whole.subarray(0, 7), Buffer.from([3]), whole.subarray(8)])],
  [
    'states more objects than it has',
    Buffer.concat([whole.subarray(0, 8), Buffer.alloc(1024, 255), whole.subarray(1032)]),
  ],
])('an index that %s holds nothing until it is whole', async (_what, index) => {
  put('pack-a', index);
  const packs = indexes();
  expect(await packs.find(idOf(3))).toBeNull();
  expect(await packs.refresh()).toBeNull();
  put('pack-a', whole);
  expect(await packs.find(idOf(3))).toEqual({ pack: 'pack-a', offset: offsetOf(3) });
});

it('an index that is cut after its head was read is looked at anew', async () => {
  put('pack-a', whole);
  const packs = indexes();
  await packs.refresh();
  put('pack-a', whole.subarray(0, 2_000));
  expect(await packs.find(idOf(3))).toBeNull();
  put('pack-a', whole);
  expect(await packs.has(idOf(3))).toBe(true);
});

it('an index that is written without being read is one of its file', async () => {
  const disk = new Measured();
  const packs = indexes(disk.fs);
  packs.add('pack-a', indexOf(0, 100));
  packs.add('pack-b', indexOf(100, 5_000));
  expect(await packs.find(idOf(5))).toEqual({ pack: 'pack-a', offset: offsetOf(5) });
  expect(disk.bytes).toBe(0);
  // Of a large one only the head is kept.
  put('pack-b', indexOf(100, 5_000));
  expect(await packs.find(idOf(105))).toEqual({ pack: 'pack-b', offset: offsetOf(105) });
  expect(disk.bytes).toBeGreaterThan(0);
});

it('keeps of an index that was written nothing but its tables, and nothing once it is gone', () => {
  const kept: { file: IndexFile; place: PagePlace; page: Uint8Array }[] = [];
  class Watched extends IndexPages {
    override keep(file: IndexFile, place: PagePlace, page: Uint8Array): void {
      kept.push({ file, place, page });
      super.keep(file, place, page);
    }
  }
  const pages = new Watched(nodeFs);
  const index = PackIndex.written(pages, 'pack-a', { path: pathOf('pack-a'), bytes: indexOf(0, 100) });
  expect(kept.map(({ page }) => page.buffer.byteLength)).toEqual([100 * 20, 100 * 4]);
  index?.drop();
  for (const { file, place } of kept) expect(pages.kept(file, place)).toBeUndefined();
});

it('reads offsets of 64 bits, and takes one that its table has not for damage', async () => {
  const index = indexOf(0, 3);
  const offsets = indexHeadBytes + 3 * 24;
  const large = Buffer.alloc(16);
  large.writeBigUInt64BE(5_000_000_000n, 8);
  index.writeUInt32BE(2 ** 31 + 1, offsets);
  index.writeUInt32BE(2 ** 31 + 2, offsets + 4);
  put('pack-a', Buffer.concat([index.subarray(0, -40), large, index.subarray(-40)]));
  const packs = indexes();
  const sorted = [0, 1, 2].map(idOf).sort();
  expect((await packs.find(sorted[0]!))?.offset).toBe(5_000_000_000);
  expect((await packs.find(sorted[1]!))?.offset).toBe(-1);
});

it('gives all ids byte by byte, each once', async () => {
  put('pack-a', indexOf(0, 5_000));
  put('pack-b', indexOf(4_000, 6_000));
  const packs = indexes();
  await packs.refresh();
  const found: Oid[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const ids = await packs.ids(byte);
    if (ids !== 'gone') found.push(...ids);
  }
  expect(found.sort()).toEqual(Array.from({ length: 6_000 }, (_, n) => idOf(n)).sort());
  rmSync(pathOf('pack-b'));
  packs.clear();
  await packs.refresh();
  rmSync(pathOf('pack-a'));
  expect(await packs.ids(7)).toBe('gone');
});

it('all ids of a store are given while git repacks it and unpacks it', async () => {
  const texts = Array.from({ length: 2_000 }, (_, n) => Buffer.from(`text ${n}`));
  const oids = await store.objects.write(texts.map((data) => ({ type: 'blob' as const, data })));
  const found = new Set<Oid>();
  for await (const oid of store.objects.ids()) {
    if (found.size === 100) await git(store.dir, 'repack', '-adqk');
    if (found.size === 1_000) await git(store.dir, 'repack', '-Adq');
    found.add(oid);
  }
  for (const oid of oids) expect(found.has(oid)).toBe(true);
  expect(await fsck(store.dir)).not.toContain('missing');
});

it('all ids of a store are given where an index is damaged', async () => {
  const [oid] = await store.objects.write([{ type: 'blob', data: Buffer.from('text') }]);
  writeFileSync(join(store.dir, 'objects', 'pack', `pack-${'0'.repeat(40)}.idx`), '');
  const found: Oid[] = [];
  for await (const one of store.objects.ids()) found.push(one);
  expect(found).toContain(oid);
});
