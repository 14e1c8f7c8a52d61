import { execFileSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { nodeFs } from './node-fs.js';
import { StoreObjects } from './objects.js';
import { consolidatePacks } from './pack-consolidate.js';

const { store } = storeForEach();

const place = (): string => join(store.dir, 'objects', 'pack');
const packs = async (): Promise<string[]> => (await readdir(place())).filter((name) => name.endsWith('.pack'));
const text = (n: number): string => `object ${n}\n`;

/** So many packs of one object each. */
async function small(count: number, first = 0): Promise<Oid[]> {
  const made: Oid[] = [];
  for (let n = first; n < first + count; n++) {
    made.push(...(await store.objects.write([{ type: 'blob', data: Buffer.from(text(n)) }])));
  }
  return made;
}

async function expectAll(oids: readonly Oid[]): Promise<void> {
  const fresh = new StoreObjects(nodeFs, store.dir);
  for (const [n, oid] of oids.entries()) expect(Buffer.from((await fresh.read(oid)).data).toString()).toBe(text(n));
  expect(await fsck(store.dir)).toBe('');
}

it('leaves few packs alone', async () => {
  await small(15);
  expect(await consolidatePacks(nodeFs, place())).toBeNull();
  expect(await packs()).toHaveLength(15);
});

it('makes one pack of many, which stock git trusts, and drops no object that nothing names', async () => {
  const oids = await small(40);
  const reader = new StoreObjects(nodeFs, store.dir);
  await reader.read(oids[0]!);
  const made = await consolidatePacks(nodeFs, place());
  expect(await packs()).toEqual([`${made?.name ?? ''}.pack`]);
  await git(store.dir, 'verify-pack', join(place(), `${made?.name ?? ''}.idx`));
  await expectAll(oids);
  // One that knew the packs before looks again.
  for (const [n, oid] of oids.entries()) expect(Buffer.from((await reader.read(oid)).data).toString()).toBe(text(n));
});

it('takes an object that is in several packs once', async () => {
  const oids = await small(16);
  await store.objects.write([0, 1, 2].map((n) => ({ type: 'blob', data: Buffer.from(text(n)) })));
  await consolidatePacks(nodeFs, place());
  expect(await git(store.dir, 'count-objects', '-v')).toMatch(/in-pack: 16\npacks: 1\n/);
  await expectAll(oids);
});

it('takes packs with deltas of stock git in one piece', async () => {
  const oids = await small(15);
  const large = Array.from({ length: 200 }, (_, n) => `line ${n} that is long enough for a delta\n`).join('');
  const add = (body: string): string =>
    execFileSync('git', ['--git-dir', store.dir, 'hash-object', '-w', '--stdin'], { input: body }).toString().trim();
  const blobs = [large, `${large}and more\n`, `${large}and other\n`].map(add);
  const input = { input: `${blobs.join('\n')}\n` };
  execFileSync(
    'git',
    ['--git-dir', store.dir, 'pack-objects', '--delta-base-offset', '-q', join(place(), 'pack')],
    input,
  );
  await git(store.dir, 'prune-packed');
  const made = await consolidatePacks(nodeFs, place());
  expect(await packs()).toEqual([`${made?.name ?? ''}.pack`]);
  expect(await git(store.dir, 'verify-pack', '-v', join(place(), `${made?.name ?? ''}.idx`))).toContain('chain length');
  for (const oid of blobs) expect(await git(store.dir, 'cat-file', '-t', oid)).toBe('blob');
  await expectAll(oids);
});

it.each(['pack-x.keep', 'multi-pack-index'])('leaves alone what %s says that somebody looks after', async (name) => {
  await small(16);
  const [first = ''] = await packs();
  await writeFile(join(place(), name.replace('pack-x', first.replace('.pack', ''))), '');
  await consolidatePacks(nodeFs, place());
  expect(await packs()).toContain(first);
});

it('leaves a store that works, whichever step fails', async () => {
  const oids = await small(16);
  let failures = 0;
  for (let at = 1; ; at++) {
    const fs = faultyFs(nodeFs, { at, when: 'before', what: 'EIO' });
    const failed = await consolidatePacks(fs, place()).then(
      () => false,
      () => true,
    );
    await expectAll(oids);
    if (fs.steps() < at) break;
    if (failed) failures += 1;
    // What was joined is small again, for the next step to fail in.
    await small(16);
  }
  expect(failures).toBeGreaterThanOrEqual(6);
});
