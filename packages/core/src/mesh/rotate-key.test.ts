import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MachineKey, keyPath, nextKeyPath } from '../store/keys.js';
import { nodeFs } from '../store/node-fs.js';
import { keyFingerprint } from '../store/public-key.js';
import { Store } from '../store/store.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { TestMachine } from '../testing/mesh-fixture.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { storeDeps } from '../testing/store-fixture.js';
import { mendStore } from './mend-store.js';

const { studio } = meshForEach('studio');

const stated = async (): Promise<string | undefined> => (await studio.ctx.branches.ownBranch()).machine?.key;
const inFile = async (): Promise<string | undefined> =>
  MachineKey.fromOpenSsh(await readFile(keyPath(studio.store.dir), 'latin1'))?.publicLine;
const isStaged = (): Promise<boolean> => studio.store.key.isStaged();
async function signatures(): Promise<string[]> {
  const found: string[] = [];
  for await (const { event, signature } of studio.api.log({}, {})) found.push(`${event} ${signature}`);
  return found;
}

test('a preview names the key that is in use and makes none', async () => {
  const before = await studio.tip();
  expect(await studio.api.rotateKey({}, studio.call())).toMatchObject({
    preview: true,
    key: null,
    previous: keyFingerprint(studio.store.signer.publicKey),
  });
  expect(await studio.tip()).toBe(before);
  expect(await isStaged()).toBe(false);
});

test('the new key is stated, signs what follows and replaces the old one in its file; the log knows both', async () => {
  const old = studio.store.signer.publicKey;
  await studio.checkin('boss');
  const result = await studio.api.rotateKey({ confirm: true }, studio.call());
  const now = studio.store.signer.publicKey;
  expect(now).not.toBe(old);
  expect(result).toEqual({
    preview: false,
    machine: 'studio',
    key: keyFingerprint(now),
    previous: keyFingerprint(old),
  });
  expect(await stated()).toBe(now);
  expect(await inFile()).toBe(now);
  expect(await isStaged()).toBe(false);
  if (process.platform !== 'win32') expect((await stat(keyPath(studio.store.dir))).mode & 0o777).toBe(0o600);
  await studio.checkin('helper');
  const events = ['checkin good', 'rotate-key good', 'checkin good', 'join good', 'init good'];
  expect((await signatures()).sort()).toEqual(events.sort());
  expect(await studio.api.doctor()).toMatchObject({ problems: [] });
});

test('a process that had the store open signs with the key that another one made', async () => {
  const resident = await studio.reopened();
  await studio.api.rotateKey({ confirm: true }, studio.call());
  await resident.checkin('boss');
  expect(resident.store.signer.publicKey).toBe(studio.store.signer.publicKey);
  expect((await signatures()).every((line) => line.endsWith('good'))).toBe(true);
});

test('a key that was made and not stated is dropped by whoever writes next, and when the store is opened', async () => {
  const old = studio.store.signer.publicKey;
  const stage = (): Promise<void> =>
    studio.store.key.stage(new MachineKey(randomBytes(32)), { random: randomBytes, comment: '' });
  await stage();
  await studio.checkin('boss');
  expect([await isStaged(), await stated(), await inFile()]).toEqual([false, old, old]);
  await stage();
  await mendStore(await Store.open(studio.store.dir, storeDeps()));
  expect([await isStaged(), await stated(), await inFile()]).toEqual([false, old, old]);
});

test('a key that is stated and not in its place is put there by whoever writes next, and when the store is opened', async () => {
  for (const finish of ['write', 'open'] as const) {
    const old = await stated();
    // The disk takes everything but the last rename.
    let armed = false;
    const fs = faultyFs(nodeFs, { steps: ['rename'], at: Infinity, when: 'before', what: 'EIO' });
    const rename = async (from: string, to: string): Promise<void> => {
      if (armed && from === nextKeyPath(studio.store.dir)) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await fs.rename(from, to);
    };
    const failing = await Store.open(studio.store.dir, storeDeps({ ...fs, rename }));
    armed = true;
    const machine = new TestMachine(failing, studio.clock);
    // It is stated, and what is left is made up for: no failure.
    expect(await machine.api.rotateKey({ confirm: true }, machine.call())).toMatchObject({ preview: false });
    const next = await stated();
    expect(next).not.toBe(old);
    expect([await inFile(), await isStaged()]).toEqual([old, true]);
    if (finish === 'write') await studio.checkin(`after-${finish}`);
    else await mendStore(await Store.open(studio.store.dir, storeDeps()));
    expect([await inFile(), await isStaged()]).toEqual([next, false]);
  }
  await studio.checkin('last');
  expect((await signatures()).every((line) => line.endsWith('good'))).toBe(true);
});

test('a store without the key that its branch states writes nothing that nobody would accept', async () => {
  const old = await readFile(keyPath(studio.store.dir));
  await studio.api.rotateKey({ confirm: true }, studio.call());
  await nodeFs.unlink(keyPath(studio.store.dir));
  const file = await nodeFs.open(keyPath(studio.store.dir), 'new', 0o600);
  await file.write(old);
  await file.close();
  const before = await studio.tip();
  const machine = await studio.reopened();
  await expect(machine.checkin('boss')).rejects.toMatchObject({ errorName: 'store_damaged' });
  expect(await studio.tip()).toBe(before);
  expect((await machine.api.doctor()).problems.map(({ kind }) => kind)).toContain('key_mismatch');
});
