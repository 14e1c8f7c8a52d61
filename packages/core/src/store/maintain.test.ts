import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { fsck } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { footprint } from './footprint.js';
import type { Fs } from './fs.js';
import { youngMs } from './loose-gather.js';
import { nodeFs } from './node-fs.js';
import { hashObject } from './object-id.js';
import { StoreObjects } from './objects.js';
import { indexedObjects } from './pack-index-format.js';
import { byHand as boundsByHand } from './maintain-bounds.js';
import type { MaintainBounds } from './ports.js';

const { store } = storeForEach();

const byHand: MaintainBounds = { ...boundsByHand, maxObjects: 1_000, maxBytes: 1e9 };
const hour = 3_600_000;
const git = (input: string, ...args: string[]): string =>
  execFileSync('git', ['--git-dir', store.dir, ...args], { input })
    .toString()
    .trim();
const packFolder = (): string => join(store.dir, 'objects', 'pack');
const packs = (): string[] => {
  const names = readdirSync(packFolder());
  // What is without an index is a leftover, which the sweep takes.
  return names.filter((name) => name.endsWith('.pack') && names.includes(name.replace(/pack$/, 'idx')));
};
const pathOf = (oid: string): string => join(store.dir, 'objects', oid.slice(0, 2), oid.slice(2));
const at = (path: string, agoMs: number): void => {
  utimesSync(path, new Date(Date.now() - agoMs), new Date(Date.now() - agoMs));
};
const looseCount = async (): Promise<number> => (await footprint(store)).loose;

/** Loose objects as stock git makes them, an hour old. */
function loose(count: number, name = 'loose'): Oid[] {
  return Array.from({ length: count }, (_, n) => {
    const data = Buffer.from(`${name} ${n}\n`);
    const oid = hashObject('blob', data);
    mkdirSync(dirname(pathOf(oid)), { recursive: true });
    writeFileSync(pathOf(oid), deflateSync(Buffer.concat([Buffer.from(`blob ${data.length}\0`), data])), {
      mode: 0o444,
    });
    at(pathOf(oid), hour);
    return oid;
  });
}

async function packed(count: number): Promise<Oid[]> {
  const made: Oid[] = [];
  for (let n = 0; n < count; n++) {
    made.push(...(await store.objects.write([{ type: 'blob', data: Buffer.from(`packed ${n}\n`) }])));
  }
  return made;
}

async function whole(fs: Fs = nodeFs, bounds = byHand): Promise<void> {
  const objects = new StoreObjects(fs, store.dir);
  for (let steps = 0; await step(objects, bounds); steps++) if (steps > 50) throw new Error('it does not end');
}

/** As {@link Store.maintain} does it. */
async function step(objects: StoreObjects, bounds: MaintainBounds): Promise<boolean> {
  if (await objects.maintain(bounds)) return true;
  const densified = await objects.densify(bounds);
  if (densified !== null) await objects.replace(densified);
  return densified !== null;
}

async function expectAll(oids: readonly Oid[]): Promise<void> {
  const fresh = new StoreObjects(nodeFs, store.dir);
  for (const oid of oids) expect((await fresh.read(oid)).type).toBe('blob');
  expect(await fsck(store.dir)).toBe('');
}

it('puts loose objects and a few packs into one pack, and has nothing to do then', async () => {
  const oids = [...loose(8), ...(await packed(3))];
  await whole();
  expect([packs().length, await looseCount()]).toEqual([1, 0]);
  await expectAll(oids);
  const before = packs();
  await whole();
  expect(packs()).toEqual(before);
});

it('goes on in steps, each of which is small', async () => {
  const oids = loose(7);
  const objects = new StoreObjects(nodeFs, store.dir);
  const left: number[] = [];
  const bounds = { ...byHand, whole: false, maxObjects: 3 };
  while (await step(objects, bounds)) left.push(await looseCount());
  expect(left).toEqual([4, 1]);
  expect(await looseCount()).toBe(0);
  await expectAll(oids);
});

it('leaves young loose objects to whoever wrote them', async () => {
  const [old, young] = loose(2);
  at(pathOf(young!), youngMs - 60_000);
  await whole();
  expect(await looseCount()).toBe(1);
  await expectAll([old!, young!]);
});

it('keeps the loose copies until the pack has been there for the grace', async () => {
  const oids = loose(3);
  const bounds = { ...byHand, whole: false, graceMs: 600_000 };
  await whole(nodeFs, bounds);
  expect([packs().length, await looseCount()]).toEqual([1, 3]);
  for (const name of readdirSync(packFolder())) at(join(packFolder(), name), 700_000);
  await whole(nodeFs, bounds);
  expect([packs().length, await looseCount()]).toEqual([1, 0]);
  await expectAll(oids);
});

it('reaches all of very many, of which it looks at some a step, and those that wait keep nothing from its turn', async () => {
  const oids = loose(20);
  const bounds = { ...byHand, whole: false, maxObjects: 6, maxLooked: 8, graceMs: 600_000 };
  for (let steps = 0; steps < 200; steps++) await step(new StoreObjects(nodeFs, store.dir), bounds);
  const { packs: count, loose: left } = await footprint(store);
  expect([count > 3, left]).toEqual([true, 20]);
  const held = readdirSync(packFolder()).filter((name) => name.endsWith('.idx'));
  expect(held.flatMap((name) => indexedObjects(readFileSync(join(packFolder(), name))) ?? [])).toHaveLength(20);
  await expectAll(oids);
});

it('leaves a loose object that is being written, or is damaged, where it is', async () => {
  const [half, other] = loose(2);
  const bytes = readFileSync(pathOf(half!));
  chmodSync(pathOf(half!), 0o644);
  writeFileSync(pathOf(half!), bytes.subarray(0, bytes.length - 6));
  at(pathOf(half!), hour);
  await whole();
  expect(await looseCount()).toBe(1);
  writeFileSync(pathOf(half!), bytes);
  at(pathOf(half!), hour);
  await whole();
  expect(await looseCount()).toBe(0);
  await expectAll([half!, other!]);
});

it('keeps the loose copy of what a pack only seems to have', async () => {
  const oids = loose(1);
  await whole();
  const [pack = ''] = packs();
  const oid = git('loose 0\n', 'hash-object', '--stdin');
  const place = join(packFolder(), pack);
  const bytes = readFileSync(place);
  // git writes no object that a pack has; whoever restores a backup does.
  rmSync(place);
  git('loose 0\n', 'hash-object', '-w', '--stdin');
  at(pathOf(oid), hour);
  bytes[20] = (bytes[20] ?? 0) ^ 0xff;
  writeFileSync(place, bytes);
  await whole();
  expect((await new StoreObjects(nodeFs, store.dir).read(oids[0]!)).type).toBe('blob');
});

it('takes a copy in a kept pack for one, and joins no kept pack', async () => {
  const oids = await packed(3);
  const kept = packs()[0] ?? '';
  writeFileSync(join(packFolder(), kept.replace(/pack$/, 'keep')), '');
  await whole();
  expect(packs()).toHaveLength(2);
  expect(packs()).toContain(kept);
  await expectAll(oids);
});

it.each([
  ['leaves out its first object', (index: Buffer, n: number) => withoutEntry(index, n)],
  ['names another object', (index: Buffer, n: number) => misnamed(index, n)],
])('keeps a pack whose index %s', async (_what, damage) => {
  // All objects in one pack, of which the index gets wrong one.
  const oids = await store.objects.write([0, 1, 2].map((n) => ({ type: 'blob', data: Buffer.from(`one ${n}\n`) })));
  const [damaged = ''] = packs();
  const place = join(packFolder(), damaged.replace(/pack$/, 'idx'));
  const index = readFileSync(place);
  const first = [0, 1, 2].findIndex((n) => index.readUInt32BE(8 + 1024 + 3 * 24 + n * 4) === 12);
  chmodSync(place, 0o644);
  writeFileSync(place, damage(index, first));
  await packed(2);
  await whole();
  expect(packs()).toContain(damaged);
  // The pack is whole, so its index is made anew from it.
  await store.mendObjects([damaged.replace('.pack', '')]);
  await expectAll(oids);
});

/** The index without its n-th entry, its sum right. */
function withoutEntry(index: Buffer, n: number): Buffer {
  const oid = index[8 + 1024 + n * 20] ?? 0;
  const fanout = Buffer.from(index.subarray(0, 8 + 1024));
  for (let byte = oid; byte < 256; byte++) fanout.writeUInt32BE(fanout.readUInt32BE(8 + byte * 4) - 1, 8 + byte * 4);
  const parts: Buffer[] = [fanout];
  let start = 8 + 1024;
  for (const size of [20, 4, 4]) {
    parts.push(index.subarray(start, start + n * size), index.subarray(start + (n + 1) * size, start + 3 * size));
    start += 3 * size;
  }
  parts.push(index.subarray(-40, -20));
  return summed(Buffer.concat(parts));
}

/** The last byte of a name flipped; as a disk does it, the sum is wrong then. */
function misnamed(index: Buffer, n: number): Buffer {
  const copy = Buffer.from(index);
  const last = 8 + 1024 + n * 20 + 19;
  copy[last] = (copy[last] ?? 0) ^ 1;
  return copy;
}

const summed = (body: Buffer): Buffer => Buffer.concat([body, createHash('sha1').update(body).digest()]);

it.each(['before', 'after', 'half'] as const)(
  'leaves a store that works where a disk is full %s any step',
  async (when) => {
    const oids: Oid[] = [];
    let failures = 0;
    for (let step = 1; ; step++) {
      oids.push(...loose(2, `of ${when} ${step}`), ...(await packed(2)));
      const fs = faultyFs(nodeFs, { at: step, when, what: 'ENOSPC', lasting: true });
      const failed = await whole(fs).then(
        () => false,
        () => true,
      );
      if (failed) failures += 1;
      const fresh = new StoreObjects(nodeFs, store.dir);
      for (const oid of oids.slice(-8)) expect((await fresh.read(oid)).type).toBe('blob');
      if (fs.steps() < step) break;
    }
    expect(failures).toBeGreaterThanOrEqual(6);
    await whole();
    expect([packs().length, await looseCount()]).toEqual([1, 0]);
    await expectAll(oids);
  },
);
