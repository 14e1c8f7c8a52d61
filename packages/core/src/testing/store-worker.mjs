// A process of its own for the tests: `node store-worker.mjs TASK JSON`. It runs from the build.
import { open, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitOnBranch } from '../../dist/store/commit.js';
import { nodeFs } from '../../dist/store/node-fs.js';
import { StoreLock, lockPath, withStoreLock } from '../../dist/store/store-lock.js';
import { Store } from '../../dist/store/store.js';
import { faultyFs } from '../../dist/testing/faulty-fs.js';
import { storeDeps } from '../../dist/testing/store-fixture.js';

const say = (text) => process.stdout.write(`${text}\n`);

const commit = (store, name) =>
  store.withLock(
    () =>
      commitOnBranch(store, {
        edits: new Map([[`messages/_all/2026-12-02/0500/${name}.yaml`, Buffer.from(`${name}\n`)]]),
        event: { event: 'send', agent: 'builder', messages: [], read: [], summary: name },
        at: Date.now(),
      }),
    { timeoutMs: 60_000 },
  );

const tasks = {
  /** Adds 1 to a file `times` times, each under the lock; a second one inside at once is an error. */
  async count({ dir, times }) {
    for (let n = 0; n < times; n++) {
      await withStoreLock(
        nodeFs,
        dir,
        async () => {
          const inside = join(dir, 'inside');
          await (await open(inside, 'wx')).close();
          const value = Number(await readFile(join(dir, 'counter'), 'utf8'));
          await writeFile(join(dir, 'counter.new'), String(value + 1));
          await rename(join(dir, 'counter.new'), join(dir, 'counter'));
          await unlink(inside);
        },
        { timeoutMs: 120_000 },
      );
    }
    say('done');
  },
  /** Takes the lock and keeps it. */
  async hold({ dir }) {
    await withStoreLock(nodeFs, dir, async () => {
      say('held');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    });
  },
  /** Holds the lock for a while, with a second one in the line that waits no longer than twice that. */
  async queue({ dir, holdMs }) {
    const lock = new StoreLock(nodeFs, lockPath(dir));
    const first = lock.run(async () => {
      say('held');
      await new Promise((resolve) => setTimeout(resolve, holdMs));
    });
    const second = lock.run(() => Promise.resolve(), { timeoutMs: 2 * holdMs });
    await Promise.all([first, second]);
    say('both');
  },
  async commits({ dir, times, name }) {
    const store = await Store.open(dir, storeDeps());
    for (let n = 0; n < times; n++) await commit(store, `${name}-${n}`);
    say('done');
  },
  /** One commit on a disk that ends the process at a step. */
  async crash({ dir, name, fault }) {
    const store = await Store.open(dir, storeDeps(fault === undefined ? nodeFs : faultyFs(nodeFs, fault)));
    const { seq } = await commit(store, name);
    say(`accepted ${seq}`);
  },
};

const [task, options] = process.argv.slice(2);
await tasks[task](JSON.parse(options));
process.exit(0);
