import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, Store } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { fsck, manualClock, storeDeps } from '@git-mesh/core/testing';
import type { ManualClock } from '@git-mesh/core/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { remoteMesh } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';
import { Worker } from './worker.js';
import type { WorkerRounds } from './worker.js';

const lookMs = 5_000;
const restMs = 10 * 60_000;

let mesh: RemoteMesh;
let studio: Peer;
let clock: ManualClock;
let worker: Worker;
let warnings: string[];
/** How often the worker looked at what is due, apart from maintenance. */
let looks: number;

beforeEach(async () => {
  mesh = await remoteMesh(['studio']);
  [studio] = mesh.peers as [Peer];
  clock = manualClock(Date.now());
  warnings = [];
  looks = 0;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const rounds: WorkerRounds = {
    remotes: [],
    refresh: () => Promise.resolve(false),
    prepare: () => {
      looks += 1;
      return Promise.resolve();
    },
    pass: () => Promise.resolve(),
    isUnfinished: () => false,
    lacksOwnTip: () => Promise.resolve(false),
    movedThere: () => Promise.resolve(false),
    carryAt: () => Promise.resolve(null),
  };
  const logger = { debug: () => undefined, info: () => undefined, error: () => undefined, warn };
  worker = new Worker({ mesh: { ...studio.mesh, clock, logger }, rounds, logger });
  worker.start();
  // Its first look is its own, at once.
  await until(() => looks === 1);
});
afterEach(async () => {
  await worker.stop();
  vi.useRealTimers();
  mesh.remove();
});

function warn(text: string): void {
  warnings.push(text);
}
const until = (holds: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      expect(holds()).toBe(true);
    },
    { timeout: 20_000, interval: 5 },
  );
const objects = (): string => join(studio.store.dir, 'objects');
const packs = (): string[] => readdirSync(join(objects(), 'pack')).filter((name) => name.endsWith('.idx'));
const packBytes = (): number =>
  packs().reduce((sum, name) => sum + statSync(join(objects(), 'pack', name.replace(/idx$/, 'pack'))).size, 0);
const loose = (): string[] =>
  readdirSync(objects())
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => readdirSync(join(objects(), name)).map((file) => join(objects(), name, file)));

/** The worker's next look, after so long; what it does then is at its end when the look after it has begun. */
async function look(afterMs: number): Promise<void> {
  for (const ms of [afterMs, 0]) {
    const before = looks;
    clock.advance(ms);
    vi.advanceTimersByTime(lookMs);
    await until(() => looks > before);
  }
}

const common = Array.from({ length: 4 }, (_, n) => createHash('sha512').update(String(n)).digest('hex')).join('');

/** Far more objects in a pack than commits join, all of them alike. */
async function largePack(count = 400): Promise<Oid[]> {
  const texts = Array.from({ length: count }, (_, n) => `${common} ${n} of ${count}`);
  return studio.store.objects.write(texts.map((text) => ({ type: 'blob', data: Buffer.from(text) })));
}

function looseObjects(count: number): void {
  const folder = mesh.git.path('files');
  mkdirSync(folder);
  const paths = Array.from({ length: count }, (_, n) => join(folder, String(n)));
  for (const [n, path] of paths.entries()) writeFileSync(path, `loose ${n}`);
  const input = `${paths.join('\n')}\n`;
  execFileSync('git', ['--git-dir', studio.store.dir, 'hash-object', '-w', '--stdin-paths'], { input });
  const then = new Date(Date.now() - 3_600_000);
  for (const path of loose()) utimesSync(path, then, then);
}

async function expectAll(oids: readonly Oid[]): Promise<void> {
  const fresh = await Store.open(studio.store.dir, storeDeps());
  for (const oid of oids) expect((await fresh.objects.read(oid)).type).toBe('blob');
  expect(await fsck(studio.store.dir)).toBe('');
  expect(warnings).toEqual([]);
}

test('a worker packs loose objects and makes packs dense, a step a look, and then rests for ten minutes', async () => {
  const oids = await largePack();
  const [before, count] = [packBytes(), packs().length];
  looseObjects(5);
  await look(lookMs);
  // A pack for the loose ones, which stay for their grace; the large one is smaller now.
  expect(packs()).toHaveLength(count + 1);
  expect(loose()).toHaveLength(5);
  expect(packBytes()).toBeLessThan(before / 2);
  // Nothing was left: what comes next waits.
  await look(lookMs);
  const later = await largePack(401);
  const fresh = packBytes();
  await look(restMs - 2 * lookMs);
  expect(packBytes()).toBe(fresh);
  await look(2 * lookMs);
  expect(packBytes()).toBeLessThan(fresh);
  await expectAll([...oids, ...later]);
});

test('a worker goes on with the next look for as long as there is more to do', async () => {
  looseObjects(1_100);
  const step = vi.spyOn(studio.store, 'maintain');
  await look(0);
  expect(step).not.toHaveBeenCalled();
  await look(lookMs);
  for (let n = 0; n < 10; n++) await look(0);
  // 500 loose ones, 500, the rest and their packs, and one that finds nothing.
  expect(await Promise.all(step.mock.results.map(({ value }) => value as Promise<boolean>))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  const held = execFileSync('git', ['--git-dir', studio.store.dir, 'count-objects', '-v']).toString();
  expect(held).toMatch(/count: 1100\n[^]*prune-packable: 1100/);
  await expectAll([]);
});

test('while another holds the store, a worker waits and changes nothing', async () => {
  const oids = await largePack();
  const before = readdirSync(join(objects(), 'pack')).sort();
  const size = packBytes();
  const step = vi.spyOn(studio.store, 'maintain');
  const other = await Store.open(studio.store.dir, storeDeps());
  await other.withLock(async () => {
    clock.advance(lookMs);
    vi.advanceTimersByTime(lookMs);
    await until(() => step.mock.calls.length > 0);
    // It gets as far as it can.
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync(join(objects(), 'pack')).sort()).toEqual(before);
  });
  await look(0);
  expect(packBytes()).toBeLessThan(size);
  await expectAll(oids);
});

test('a worker that did not get its turn in time tries again at its next look', async () => {
  const oids = await largePack();
  const size = packBytes();
  vi.spyOn(studio.store, 'maintain').mockRejectedValueOnce(new MeshError('locked', 'the store is locked by process 1'));
  await look(lookMs);
  expect(warnings.splice(0)).toEqual(['maintenance failed: the store is locked by process 1']);
  expect(packBytes()).toBe(size);
  await look(0);
  expect(packBytes()).toBeLessThan(size);
  await expectAll(oids);
});

test('a worker that ends in the midst of it leaves the packs as they were', async () => {
  const oids = await largePack(3_000);
  const before = readdirSync(join(objects(), 'pack')).sort();
  const begun = vi.spyOn(studio.store.objects, 'densify');
  clock.advance(lookMs);
  vi.advanceTimersByTime(lookMs);
  await until(() => begun.mock.calls.length > 0);
  await worker.stop();
  expect(readdirSync(join(objects(), 'pack')).sort()).toEqual(before);
  await expectAll(oids);
});
