import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultyFs } from '../testing/faulty-fs.js';
import { startWorker } from '../testing/run-worker.js';
import type { Worker } from '../testing/run-worker.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { ownIdentity } from './identity.js';
import type { Holder } from './lock-file.js';
import { nodeFs } from './node-fs.js';
import type { ProcessIdentity } from './ports.js';
import { StoreLock, lockPath, withStoreLock } from './store-lock.js';

const onPosix = process.platform !== 'win32';
let folder: { path: string; remove: () => Promise<void> };
let dir: string;
let workers: Worker[];
beforeEach(async () => {
  folder = await temporaryFolder();
  dir = folder.path;
  workers = [];
  await mkdir(join(dir, 'mesh'));
});
afterEach(async () => {
  for (const { process } of workers) process.kill('SIGKILL');
  await Promise.all(workers.map(({ ended }) => ended));
  await folder.remove();
});

function start(task: string, options: object): Worker {
  const worker = startWorker(task, options);
  workers.push(worker);
  return worker;
}

/** A worker that has the lock. */
async function holder(): Promise<Worker> {
  const worker = start('hold', { dir });
  expect(await worker.line()).toBe('held');
  return worker;
}

const attempt = (timeoutMs: number): Promise<string> =>
  withStoreLock(nodeFs, dir, () => Promise.resolve('ours'), { timeoutMs });

async function writeHolder(identity: ProcessIdentity): Promise<Holder> {
  const written = { identity, nonce: randomBytes(12).toString('hex'), since: Date.now() };
  await writeFile(lockPath(dir), JSON.stringify(written));
  return written;
}

async function age(path: string, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * 60_000);
  await utimes(path, at, at);
}

/** An identity of a process that has ended and was reaped. */
async function deadIdentity(): Promise<ProcessIdentity> {
  const worker = await holder();
  const { identity } = JSON.parse(await readFile(lockPath(dir), 'utf8')) as Holder;
  worker.process.kill('SIGKILL');
  await worker.ended;
  return identity;
}

describe('the store lock', () => {
  it('lets one in at a time: eight processes of 40 turns each add up', async () => {
    await writeFile(join(dir, 'counter'), '0');
    const all = Array.from({ length: 8 }, () => start('count', { dir, times: 40 }));
    for (const worker of all) expect(await worker.ended).toEqual({ code: 0, signal: null, stderr: '' });
    expect(await readFile(join(dir, 'counter'), 'utf8')).toBe('320');
    expect((await readdir(join(dir, 'mesh'))).filter((name) => !name.startsWith('tmp_'))).toEqual([]);
  }, 180_000);

  it('passes to the next within five seconds when its holder is killed', async () => {
    const worker = await holder();
    const waiting = attempt(30_000);
    const killed = performance.now();
    worker.process.kill('SIGKILL');
    expect(await waiting).toBe('ours');
    expect(performance.now() - killed).toBeLessThan(5_000);
  });

  it.skipIf(!onPosix)('is not taken from a holder that is stopped, and says who that is', async () => {
    const worker = await holder();
    worker.process.kill('SIGSTOP');
    const before = await readFile(lockPath(dir), 'utf8');
    await expect(attempt(700)).rejects.toMatchObject({
      errorName: 'locked',
      code: 423,
      message: expect.stringContaining(`process ${worker.process.pid ?? 0} since 20`) as string,
      data: { pid: worker.process.pid },
    });
    expect(await readFile(lockPath(dir), 'utf8')).toBe(before);
    worker.process.kill('SIGCONT');
  });

  it.skipIf(!onPosix)('does not count the time in which the whole process was stopped as waited', async () => {
    const holdMs = 1_200;
    const worker = startWorker('queue', { dir, holdMs });
    workers.push(worker);
    expect(await worker.line()).toBe('held');
    worker.process.kill('SIGSTOP');
    // Not a wait for something: how long it stands still is the experiment.
    await delay(3 * holdMs);
    worker.process.kill('SIGCONT');
    expect([await worker.line(), (await worker.ended).stderr]).toEqual(['both', '']);
  });

  it('lets twelve waiters through one after the other when the holder is dead', async () => {
    await writeHolder(await deadIdentity());
    let inside = 0;
    const turns = await Promise.all(
      Array.from({ length: 12 }, () =>
        withStoreLock(nodeFs, dir, async () => {
          inside += 1;
          const now = inside;
          await readdir(dir);
          inside -= 1;
          return now;
        }),
      ),
    );
    expect(turns).toEqual(Array.from({ length: 12 }, () => 1));
    expect(await readdir(join(dir, 'mesh'))).toEqual([]);
  });

  it('is taken over from a pid that another process has now', async () => {
    const own = await ownIdentity();
    const { ticks, ...rest } = own;
    await writeHolder({
      ...rest,
      started_at: own.started_at - 60_000,
      ...(ticks === undefined ? {} : { ticks: String(Number(ticks) - 6_000) }),
    });
    expect(await attempt(3_000)).toBe('ours');
  });

  it.each([
    ['in another pid namespace', { pidns: 'pid:[1]' }],
    ['on another machine', { boot: 'other', host: 'other' }],
  ])('is waited for when its holder is %s, where nothing can be proven', async (_, elsewhere) => {
    const dead = await deadIdentity();
    await writeHolder({ ...dead, ...elsewhere });
    await expect(attempt(200)).rejects.toMatchObject({ errorName: 'locked' });
  });

  it.skipIf(process.platform !== 'linux')('is taken over after this machine was started anew', async () => {
    await writeHolder({ ...(await ownIdentity()), boot: 'an earlier one' });
    expect(await attempt(3_000)).toBe('ours');
  });

  it.each([
    ['empty', ''],
    ['damaged', '{"identity":{"pid":'],
    ['of an unknown form', '{"pid":1}'],
  ])('is waited for when its file is %s, and taken over once that is 10 minutes old', async (_, content) => {
    await writeFile(lockPath(dir), content);
    await age(lockPath(dir), 9);
    await expect(attempt(200)).rejects.toMatchObject({ errorName: 'locked' });
    await age(lockPath(dir), 11);
    expect(await attempt(3_000)).toBe('ours');
  });

  it('is taken over though another waiter was killed while it took it over', async () => {
    const dead = await deadIdentity();
    const { nonce } = await writeHolder(dead);
    const claim = { identity: dead, nonce: 'a-claim', since: Date.now() };
    await writeFile(join(dir, 'mesh', `takeover.${nonce}`), JSON.stringify(claim));
    expect(await attempt(3_000)).toBe('ours');
    expect(await readdir(join(dir, 'mesh'))).toEqual([]);
  });

  it.each(['EIO', 'ENOTSUP'] as const)('is ours when it was made and the answer was %s', async (what) => {
    const lossy = faultyFs(nodeFs, { steps: ['link'], at: 1, when: 'after', what });
    expect(await withStoreLock(lossy, dir, () => Promise.resolve('ours'), { timeoutMs: 100 })).toBe('ours');
    expect(await readdir(join(dir, 'mesh'))).toEqual([]);
  });

  it('is released when the work fails, and gives its error', async () => {
    const failing = withStoreLock(nodeFs, dir, () => Promise.reject(new Error('the work failed')));
    await expect(failing).rejects.toThrow('the work failed');
    expect(await attempt(0)).toBe('ours');
  });

  it('serves waiters of one process in their order', async () => {
    const lock = new StoreLock(nodeFs, lockPath(dir));
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((n) => lock.run(() => Promise.resolve(order.push(n)))));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives a waiter of the same process up in time, and goes on with those behind it', async () => {
    const lock = new StoreLock(nodeFs, lockPath(dir));
    let release = (): void => undefined;
    const first = lock.run(() => new Promise<void>((resolve) => (release = resolve)));
    await expect(lock.run(() => Promise.resolve(), { timeoutMs: 50 })).rejects.toMatchObject({ errorName: 'locked' });
    const third = lock.run(() => Promise.resolve('third'));
    release();
    await first;
    expect(await third).toBe('third');
  });

  it('knows its own holder, below the lock of another store too, and for no longer than it is held', async () => {
    await mkdir(join(dir, 'other', 'mesh'), { recursive: true });
    const [outer, inner] = [dir, join(dir, 'other')].map((path) => new StoreLock(nodeFs, lockPath(path)));
    if (outer === undefined || inner === undefined) throw new Error('two were made');
    const here = (): boolean[] => [outer.isHeldHere, inner.isHeldHere];
    let later: () => void = () => undefined;
    const ends = new Promise<void>((resolve) => (later = resolve));
    let background: Promise<boolean[]> | undefined;
    await outer.run(async () => {
      expect(here()).toEqual([true, false]);
      await inner.run(() => {
        background = ends.then(here);
        expect(here()).toEqual([true, true]);
        return Promise.resolve();
      });
      expect(here()).toEqual([true, false]);
      await expect(inner.run(() => outer.run(() => Promise.resolve()))).rejects.toThrow('its own holder');
    });
    expect(here()).toEqual([false, false]);
    later();
    expect(await background).toEqual([false, false]);
  });

  it('refuses to wait for itself', async () => {
    const lock = new StoreLock(nodeFs, lockPath(dir));
    await expect(lock.run(() => lock.run(() => Promise.resolve()))).rejects.toThrow('its own holder');
    expect(await lock.run(() => Promise.resolve('free'))).toBe('free');
  });
});

describe('the store lock on a disk without hard links', () => {
  const noLinks = (): ReturnType<typeof faultyFs> =>
    faultyFs(nodeFs, { steps: ['link'], at: 1, when: 'before', what: 'ENOTSUP', lasting: true });

  it('lets one in at a time, whichever way the other has', async () => {
    let inside = 0;
    const turns = await Promise.all(
      [noLinks(), nodeFs, noLinks(), nodeFs, noLinks()].map((fs) =>
        withStoreLock(fs, dir, async () => {
          inside += 1;
          const now = inside;
          await readdir(dir);
          inside -= 1;
          return now;
        }),
      ),
    );
    expect(turns).toEqual([1, 1, 1, 1, 1]);
    expect(await readdir(join(dir, 'mesh'))).toEqual([]);
  });

  it('is taken over from a dead holder, and from an empty folder only after 10 minutes', async () => {
    const written = await writeHolder(await deadIdentity());
    await nodeFs.unlink(lockPath(dir));
    await mkdir(lockPath(dir));
    await writeFile(join(lockPath(dir), 'holder'), JSON.stringify(written));
    expect(await attempt(3_000)).toBe('ours');
    await mkdir(lockPath(dir));
    await expect(attempt(100)).rejects.toMatchObject({ errorName: 'locked' });
    await age(lockPath(dir), 11);
    expect(await attempt(3_000)).toBe('ours');
  });
});
