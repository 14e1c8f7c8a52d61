import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startWorker } from '../testing/run-worker.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { ownIdentity } from './identity.js';
import type { Holder } from './lock-file.js';
import { nextPath } from './lock-turns.js';
import { nodeFs } from './node-fs.js';
import type { ProcessIdentity } from './ports.js';
import { StoreLock, lockPath } from './store-lock.js';
import { sweepStore } from './sweep.js';

let folder: { path: string; remove: () => Promise<void> };
let dir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dir = folder.path;
  await mkdir(join(dir, 'mesh'));
});
afterEach(() => folder.remove());

const locks = (): StoreLock => new StoreLock(nodeFs, lockPath(dir));
const left = (): Promise<string[]> => readdir(join(dir, 'mesh'));
const next = async (): Promise<Holder | null> =>
  readFile(nextPath(dir), 'utf8').then(
    (text) => JSON.parse(text) as Holder,
    () => null,
  );
const untilQueued = (): Promise<void> =>
  vi.waitFor(
    async () => {
      expect(await next()).not.toBeNull();
    },
    { timeout: 20_000, interval: 2 },
  );

async function writeNext(identity: ProcessIdentity, ageMs = 0): Promise<void> {
  const holder: Holder = { identity, nonce: randomBytes(12).toString('hex'), since: Date.now() - ageMs };
  await writeFile(nextPath(dir), JSON.stringify(holder));
}

async function deadIdentity(): Promise<ProcessIdentity> {
  const worker = startWorker('hold', { dir });
  await worker.line();
  const { identity } = JSON.parse(await readFile(lockPath(dir), 'utf8')) as Holder;
  worker.process.kill('SIGKILL');
  await worker.ended;
  await rm(lockPath(dir));
  return identity;
}

/** Has the lock until it is told to release it, and takes it again at once. */
function greedy(order: string[]): { again: Promise<void>; release: () => void } {
  const lock = locks();
  let release = (): void => undefined;
  const again = (async () => {
    await lock.run(() => new Promise<void>((resolve) => (release = resolve)));
    await lock.run(() => Promise.resolve(void order.push('again')));
  })();
  return {
    again,
    release: () => {
      release();
    },
  };
}

it('one that waits comes before one that releases the lock and takes it again at once', async () => {
  for (let round = 0; round < 5; round++) {
    const order: string[] = [];
    const holder = greedy(order);
    await vi.waitFor(async () => {
      expect(await left()).toContain('lock');
    });
    const waiter = locks().run(() => Promise.resolve(void order.push('waiter')));
    await untilQueued();
    holder.release();
    await Promise.all([holder.again, waiter]);
    expect(order).toEqual(['waiter', 'again']);
  }
  expect(await left()).toEqual([]);
});

it('whoever gives up waiting is not waited for', async () => {
  const holder = greedy([]);
  await vi.waitFor(async () => {
    expect(await left()).toContain('lock');
  });
  await expect(locks().run(() => Promise.resolve(), { timeoutMs: 400 })).rejects.toMatchObject({
    errorName: 'locked',
  });
  expect(await next()).toBeNull();
  holder.release();
  await holder.again;
});

it('a free lock is not kept for ever for one that does not take its turn', async () => {
  await writeNext(await ownIdentity());
  expect(await locks().run(() => Promise.resolve('ours'))).toBe('ours');
  // It is still there, as of a process that is stopped; and that it is next keeps nobody who has no time.
  expect(await left()).toEqual(['next.lock']);
  expect(await locks().run(() => Promise.resolve('ours'), { timeoutMs: 0 })).toBe('ours');
});

it('one that was killed while it was next is replaced, or swept away', async () => {
  const dead = await deadIdentity();
  await writeNext(dead);
  expect(await locks().run(() => Promise.resolve('ours'))).toBe('ours');
  expect(await left()).toEqual([]);
  await writeNext(dead);
  await sweepStore(nodeFs, dir);
  expect(await left()).toEqual([]);
});

it('one that was next long ago, of whom nothing can be proven, is passed over', async () => {
  await writeNext({ ...(await deadIdentity()), boot: 'other', host: 'other' }, 120_000);
  expect(await locks().run(() => Promise.resolve('ours'))).toBe('ours');
});
