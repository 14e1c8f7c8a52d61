import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorResult } from '@git-mesh/core';
import { expect, test } from 'vitest';
import type { Environment } from '../environment.js';
import { mesh, solo } from '../machines.js';
import type { Machine } from '../machines.js';
import { failingDisk } from './failing-disk.js';

/** What `git mesh doctor` finds; its exit code must say the same. */
async function found(machine: Machine, env: Environment = {}): Promise<string[]> {
  const ended = await machine.run(['doctor', '--json'], { env });
  const { ok, problems } = JSON.parse(ended.stdout) as DoctorResult;
  expect([ended.code, ok]).toEqual(problems.length === 0 ? [0, true] : [1, false]);
  for (const { fix, kind } of problems) expect(fix, kind).toMatch(/\S/);
  return problems.map(({ kind }) => kind);
}

test('doctor finds a disk that takes nothing more', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'boss']);
  expect(await found(machine)).toEqual([]);
  expect(await found(machine, failingDisk(machine.root, { code: 'ENOSPC', after: 0 }))).toEqual(['disk_full']);
  expect(await found(machine, failingDisk(machine.root, { code: 'EROFS', after: 0 }))).toEqual(['read_only']);
});

test('a full disk keeps nobody from looking at a store with a remote', async () => {
  const [machine] = (await mesh(['studio'])).machines;
  rmSync(join(machine.store, 'mesh', 'gitconfig'), { force: true });
  expect(await found(machine, failingDisk(machine.root, { code: 'ENOSPC', after: 0 }))).toEqual(['disk_full']);
});

test('doctor names all that it finds in a store that cannot be opened', async () => {
  const machine = await solo();
  const key = join(machine.store, 'mesh', 'key');
  chmodSync(key, 0o640);
  writeFileSync(join(machine.store, 'mesh', 'lock'), '');
  writeFileSync(join(machine.store, 'mesh', 'pins.json'), '');
  expect(await found(machine)).toEqual(['key_permissions', 'lock_unnamed', 'pins_damaged']);
  rmSync(key);
  expect(await found(machine)).toEqual(['store_damaged', 'lock_unnamed', 'pins_damaged']);
  const text = await machine.run(['doctor']);
  expect([text.code, text.stdout]).toEqual([1, expect.stringContaining('mesh/key of the store is missing')]);
  // What the store itself tells is put back and needs nobody.
  rmSync(join(machine.store, 'HEAD'));
  expect(await found(machine)).toEqual(['store_damaged', 'lock_unnamed', 'pins_damaged']);
});

test('where there is no store there is nothing to examine', async () => {
  const machine = await solo();
  rmSync(machine.store, { recursive: true });
  const ended = await machine.run(['doctor', '--json']);
  expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([10, { error: { name: 'no_mesh' } }]);
});
