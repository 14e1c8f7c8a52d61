import { chmod, cp, mkdir, readFile, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Problem } from '../domain/results.js';
import { silentLogger } from '../logger.js';
import { examineFolder } from '../store/examine-folder.js';
import { nodeFs } from '../store/node-fs.js';
import { Store } from '../store/store.js';
import { TestMachine, faultyFs, loseObject, testMesh } from '../testing/index.js';
import type { Fault, TestMesh } from '../testing/index.js';

let mesh: TestMesh;
let studio: TestMachine;
let laptop: TestMachine;

beforeEach(async () => {
  mesh = await testMesh('studio', 'laptop');
  [studio, laptop] = mesh.machines as [TestMachine, TestMachine];
  await studio.store.withLock(() => studio.store.local.pin(laptop.handle, laptop.store.signer.publicKey));
  await studio.checkin('boss');
  await laptop.checkin('qa');
  await studio.receive(laptop);
});
afterEach(() => mesh.remove());

const file = (...parts: string[]): string => join(studio.store.dir, ...parts);

/** What a process finds that opens the store now. */
async function problems(): Promise<Problem[]> {
  const machine = await studio.reopened();
  const { ok, problems: found } = await machine.api.doctor();
  expect(ok).toBe(found.length === 0);
  for (const problem of found) expect(problem.fix, problem.kind).toMatch(/\S/);
  return found;
}

const kinds = async (): Promise<string[]> => (await problems()).map(({ kind }) => kind);

async function onFaultyDisk(fault: Fault): Promise<Problem[]> {
  const deps = { clock: mesh.clock, random: studio.ctx.random, logger: silentLogger, fs: faultyFs(nodeFs, fault) };
  const machine = new TestMachine(await Store.open(studio.store.dir, deps), mesh.clock);
  return (await machine.api.doctor()).problems;
}

test('nothing is wrong with a store that is well, and nothing is left of the look', async () => {
  const before = (await readdir(file('.'), { recursive: true })).sort();
  expect(await problems()).toEqual([]);
  expect((await readdir(file('.'), { recursive: true })).sort()).toEqual(before);
});

test.each([
  ['ENOSPC', 'disk_full'],
  ['EROFS', 'read_only'],
] as const)('a disk that answers %s to a write is %s', async (what, kind) => {
  const found = await onFaultyDisk({ steps: ['write'], at: 1, when: 'half', what, lasting: true });
  expect(found.map((problem) => problem.kind)).toEqual([kind]);
  expect(found[0]?.fix).toMatch(/\S/);
  expect(await problems()).toEqual([]);
});

test('a lock that names nobody is named with the time at which it is taken over', async () => {
  await writeFile(file('mesh', 'lock'), '');
  const since = new Date('2026-12-02T09:00:00.000Z');
  await utimes(file('mesh', 'lock'), since, since);
  const found = await problems();
  expect(found).toMatchObject([{ kind: 'lock_unnamed', path: 'mesh/lock' }]);
  expect(found[0]?.fix).toContain('2026-12-02T09:10:00.000Z');
});

test('a lock of a time to come that names nobody is taken over too', async () => {
  await writeFile(file('mesh', 'lock'), '');
  const ahead = new Date(Date.now() + 365 * 86_400_000);
  await utimes(file('mesh', 'lock'), ahead, ahead);
  await studio.store.withLock(() => Promise.resolve(), { timeoutMs: 2_000 });
});

test('git’s lock on the own branch is named', async () => {
  await writeFile(file(`${studio.store.branch}.lock`), '');
  expect(await problems()).toMatchObject([{ kind: 'lock_unnamed', path: 'refs/heads/mesh/studio.lock' }]);
});

test('a line of the shallow file that names no commit is named', async () => {
  await writeFile(file('shallow'), `${'a'.repeat(40)}\n`);
  expect(await problems()).toEqual([]);
  await writeFile(file('shallow'), `${'a'.repeat(40)}\nnonsense\n\n${'b'.repeat(40)}\r\n`);
  const found = await problems();
  expect(found).toMatchObject([{ kind: 'shallow_damaged', path: 'shallow' }]);
  expect(found[0]?.message).toContain('lines 2, 3, 4');
});

test.each(['', 'garbage', '[]', '{"laptop":5}', '{"../x":"y"}'])('pins.json with %j is damaged', async (text) => {
  await writeFile(file('mesh', 'pins.json'), text);
  expect(await kinds()).toContain('pins_damaged');
});

test.each(['{}', null])('with pins.json %j the accepted branches have no key', async (text) => {
  if (text === null) await rm(file('mesh', 'pins.json'));
  else await writeFile(file('mesh', 'pins.json'), text);
  expect(await problems()).toMatchObject([{ kind: 'key_not_pinned', machine: 'laptop' }]);
});

test.skipIf(process.platform === 'win32')(
  'a key that others may read is named with the mode it should have',
  async () => {
    await chmod(file('mesh', 'key'), 0o644);
    expect(await problems()).toMatchObject([
      {
        kind: 'key_permissions',
        message: expect.stringContaining('644') as string,
        fix: expect.stringContaining('chmod 600') as string,
      },
    ]);
  },
);

test('a key that is not the branch’s is named', async () => {
  await cp(join(laptop.store.dir, 'mesh', 'key'), file('mesh', 'key'));
  expect(await kinds()).toEqual(['key_mismatch']);
});

test.each([
  ['missing', null],
  ['empty', ''],
  ['garbage', 'x'],
])('a key that is %s is found without opening the store', async (_what, text) => {
  if (text === null) await rm(file('mesh', 'key'));
  else await writeFile(file('mesh', 'key'), text);
  await writeFile(file('mesh', 'lock'), '');
  await expect(studio.reopened()).rejects.toMatchObject({ errorName: 'store_damaged' });
  const found = await examineFolder(studio.store.dir);
  expect(found.map(({ kind }) => kind)).toEqual(['store_damaged', 'lock_unnamed']);
});

test('a folder where a file should be is no reason to throw', async () => {
  for (const name of ['key', 'config.json', 'pins.json']) {
    await rm(file('mesh', name));
    await mkdir(file('mesh', name));
  }
  expect((await examineFolder(studio.store.dir)).map(({ kind }) => kind)).toEqual([
    'store_unusable',
    'store_unusable',
    'store_unusable',
  ]);
});

test('a journal that is cut in the middle of a line is named, until the next entry', async () => {
  const { file: journal } = studio.store.journal;
  const { length } = await readFile(journal);
  await truncate(journal, length - 20);
  expect(await problems()).toMatchObject([{ kind: 'journal_damaged', path: 'mesh/journal' }]);
  const other = await studio.reopened();
  await other.api.send({ to: 'studio', msg_type: 'note' }, other.call());
  await other.receive(laptop);
  expect(await problems()).toEqual([]);
});

test.each([
  ['is missing', null],
  ['is empty', ''],
])('a journal that %s is named', async (_what, text) => {
  const { file: journal } = studio.store.journal;
  if (text === null) await rm(journal);
  else await writeFile(journal, text);
  expect(await kinds()).toEqual(['journal_missing']);
});

test('a journal of another store is named, and so is what else is wrong', async () => {
  await writeFile(studio.store.journal.file, 'git-mesh-journal 1 01J00000000000000000000000\n');
  await writeFile(file('mesh', 'lock'), '');
  expect(new Set(await kinds())).toEqual(new Set(['store_damaged', 'lock_unnamed']));
});

/** Removes an object. */
async function lose(revision: string): Promise<void> {
  const oid = await studio.git('rev-parse', revision);
  loseObject(studio.store.dir, oid);
}

test.each([
  ['the commit', 'mesh/laptop', 'branch_unreadable'],
  ['the tree', 'mesh/laptop^{tree}', 'branch_unreadable'],
  ['a folder', 'mesh/laptop:presence', 'bad_file'],
  ['a file', 'mesh/laptop:presence/qa.yaml', 'bad_file'],
])(
  '%s that is missing from an accepted tip is named, and can be fetched again as the fix says',
  async (_w, lost, kind) => {
    await lose(lost);
    const found = await problems();
    expect(found).toMatchObject([{ kind, machine: 'laptop' }]);
    const line = /git (--git-dir .* fetch --refetch) URL (\S+);/.exec(found[0]?.fix ?? '');
    const [flags, ref] = [line?.[1] ?? '', line?.[2] ?? ''];
    await studio.git(...flags.split(' ').slice(2), laptop.store.dir, ref);
    expect(await problems()).toEqual([]);
  },
);

test('an own tip that cannot be read is named', async () => {
  await lose('mesh/studio^{tree}');
  expect(await problems()).toContainEqual(expect.objectContaining({ kind: 'branch_unreadable', machine: 'studio' }));
});

test('a ref that is empty hides no other branch, and doctor names it', async () => {
  await writeFile(file('refs', 'heads', 'mesh', 'laptop'), '');
  const other = await studio.reopened();
  expect((await other.api.agents({}, other.call())).agents).toMatchObject([{ agent_id: 'boss' }]);
  expect(await problems()).toMatchObject([{ kind: 'branch_unreadable', machine: 'laptop' }]);
});

test('a store that lost its own branch still tells all that is wrong', async () => {
  await rm(file('refs', 'heads', 'mesh', 'studio'));
  await writeFile(file('mesh', 'lock'), '');
  expect(await kinds()).toEqual(['lock_unnamed', 'store_damaged']);
});

test.each(['sessions/boss.json', 'remotes/origin.json', 'activity/boss'])('a damaged %s is named', async (name) => {
  await mkdir(file('mesh', name, '..'), { recursive: true });
  await writeFile(file('mesh', name), '{');
  expect(await problems()).toMatchObject([{ kind: 'local_state_damaged', path: `mesh/${name}` }]);
});

test('a clock that is two minutes ahead is named, here and elsewhere', async () => {
  mesh.clock.advance(121_000);
  await laptop.checkin('early');
  mesh.clock.advance(-121_000);
  await studio.receive(laptop);
  expect(await problems()).toMatchObject([{ kind: 'clock_skew', machine: 'laptop' }]);
  expect((await laptop.api.doctor()).problems.map(({ kind }) => kind)).toContain('clock_behind');
});

test('a session whose file was removed while others see its agent alive is named', async () => {
  await studio.checkin('boss');
  await rm(file('mesh', 'sessions', 'boss.json'));
  expect(await problems()).toMatchObject([{ kind: 'session_lost', path: 'mesh/sessions/boss.json' }]);
  await studio.checkin('boss');
  expect(await problems()).toEqual([]);
});
