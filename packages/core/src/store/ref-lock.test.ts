import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorker } from '../testing/run-worker.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { ownIdentity } from './identity.js';
import { nodeFs } from './node-fs.js';
import type { ProcessIdentity } from './ports.js';
import { RefLock } from './ref-lock.js';

let folder: { path: string; remove: () => Promise<void> };
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, 'mesh'));
  path = join(folder.path, 'ref');
  await writeFile(path, 'before\n');
});
afterEach(() => folder.remove());

async function change(text: string): Promise<string> {
  await new RefLock(nodeFs, join(folder.path, 'mesh')).run(path, (publish) => publish(text));
  return readFile(path, 'utf8');
}

const leave = (identity: ProcessIdentity): Promise<void> =>
  writeFile(`${path}.lock`, JSON.stringify({ identity, nonce: 'left', since: Date.now() }));

describe('the lock on a ref', () => {
  it('passes to the next within five seconds when its holder is killed', async () => {
    const worker = startWorker('hold', { dir: folder.path });
    await worker.line();
    const { identity } = JSON.parse(await readFile(join(folder.path, 'mesh/lock'), 'utf8')) as {
      identity: ProcessIdentity;
    };
    await leave(identity);
    await expect(change('robbed\n')).rejects.toMatchObject({ errorName: 'locked', code: 423 });
    const waiting = change('after\n');
    const killed = performance.now();
    worker.process.kill('SIGKILL');
    await worker.ended;
    expect(await waiting).toBe('after\n');
    expect(performance.now() - killed).toBeLessThan(5_000);
  });

  it.skipIf(process.platform === 'win32')('is not taken from a holder that is stopped', async () => {
    const worker = startWorker('hold', { dir: folder.path });
    await worker.line();
    const { identity } = JSON.parse(await readFile(join(folder.path, 'mesh/lock'), 'utf8')) as {
      identity: ProcessIdentity;
    };
    worker.process.kill('SIGSTOP');
    await leave(identity);
    await expect(change('robbed\n')).rejects.toMatchObject({ errorName: 'locked' });
    expect(await readFile(path, 'utf8')).toBe('before\n');
    worker.process.kill('SIGKILL');
    await worker.ended;
  });

  it.skipIf(process.platform !== 'linux')('is taken from a pid that another process has now', async () => {
    await leave({ ...(await ownIdentity()), ticks: '1' });
    expect(await change('after\n')).toBe('after\n');
  });

  it.each([
    ['empty', ''],
    ['truncated', '{"identity":{"pi'],
    ['no text at all', '\u0000\u0001\uffff'],
  ])('is respected while a file that is %s is young, and not two hours later', async (_, content) => {
    await writeFile(`${path}.lock`, content);
    await expect(change('robbed\n')).rejects.toMatchObject({ errorName: 'locked' });
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(`${path}.lock`, old, old);
    expect(await change('after\n')).toBe('after\n');
  });

  it('is taken from a file that names no one and is dated a day ahead', async () => {
    await writeFile(`${path}.lock`, '');
    const ahead = new Date(Date.now() + 86_400_000);
    await utimes(`${path}.lock`, ahead, ahead);
    expect(await change('after\n')).toBe('after\n');
  });
});
