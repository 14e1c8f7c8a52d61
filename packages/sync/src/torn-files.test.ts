import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openMesh } from './open.js';
import type { OpenMesh } from './contract.js';
import { joinMesh } from './join.js';
import { initMesh } from './init.js';
import { GitFixture } from './testing/git-fixture.js';

// What a power cut or a bad disk does to each kind of file of a store: the next command heals it, or names it with what
// to do, and whatever does not need that file goes on.

const git = new GitFixture();
const live = git.path('live');
const studio = join(live, 'studio');
const laptop = join(live, 'laptop');
const remote = join(live, 'hub.git');
const options = (dir: string): { dir: string; env: NodeJS.ProcessEnv; logger: typeof silentLogger } => ({
  dir,
  env: process.env,
  logger: silentLogger,
});

async function on<T>(dir: string, work: (mesh: OpenMesh) => Promise<T>): Promise<T> {
  const mesh = await openMesh(options(dir));
  try {
    return await work(mesh);
  } finally {
    await mesh.close();
  }
}
const call = (mesh: OpenMesh): { connection: ReturnType<OpenMesh['newConnection']> } => ({
  connection: mesh.newConnection({ resident: false }),
});
const send = (dir: string, to: string, mark: string): Promise<number> =>
  on(dir, async (mesh) => (await mesh.api.send({ to, msg_type: 'note', payload: { mark } }, call(mesh))).message_id);
const sync = (dir: string): Promise<void> =>
  on(dir, async (mesh) => {
    expect(await mesh.syncNow()).toMatchObject({ state: 'ok', error: null });
  });
const checkin = (dir: string, agent: string): Promise<unknown> =>
  on(dir, (mesh) => mesh.api.checkin({ agent_id: agent, confirm: true }, call(mesh)));
const inbox = (dir: string, agent: string): Promise<unknown[]> =>
  on(dir, async (mesh) =>
    (await mesh.api.inbox({ agent_id: agent, limit: 100 }, call(mesh))).messages.map(({ payload }) => payload['mark']),
  );

beforeAll(async () => {
  mkdirSync(live);
  git.bare('live/hub.git');
  await initMesh({ ...options(studio), remote, machine: 'studio', hostname: 'studio' });
  await joinMesh({ ...options(laptop), url: remote, machine: 'laptop', hostname: 'laptop' });
  await checkin(studio, 'boss');
  await checkin(laptop, 'qa');
  for (const dir of [studio, laptop]) await sync(dir);
  await send(studio, 'laptop', 'to laptop');
  await send(laptop, 'studio', 'to studio');
  for (const dir of [studio, laptop, studio, laptop]) await sync(dir);
  await on(studio, (mesh) => mesh.exportBundle({ file: git.path('x.bundle'), sinceLast: 'usb' }));
  cpSync(live, git.path('pushed'), { recursive: true });
  await send(studio, 'laptop', 'queued');
  cpSync(live, git.path('queued'), { recursive: true });
}, 120_000);
beforeEach(() => {
  restore('queued');
});
afterAll(() => {
  git.remove();
});

function restore(state: 'queued' | 'pushed'): void {
  rmSync(live, { recursive: true, force: true });
  cpSync(git.path(state), live, { recursive: true });
}

const damages: Readonly<Record<string, (path: string) => void>> = {
  empty: (path) => {
    replace(path, Buffer.alloc(0));
  },
  'cut in the middle': (path) => {
    replace(path, readFileSync(path).subarray(0, statSync(path).size >> 1));
  },
  'full of zeros': (path) => {
    replace(path, Buffer.alloc(statSync(path).size));
  },
  flipped: (path) => {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0x55;
    replace(path, bytes);
  },
  missing: (path) => {
    rmSync(path);
  },
};
/** Packs are read-only. */
function replace(path: string, bytes: Uint8Array): void {
  rmSync(path);
  writeFileSync(path, bytes);
}

const fsck = (dir: string): string => git.git(['-C', dir, 'fsck', '--strict', '--no-dangling', '--full']);
const rows = (files: readonly string[], ways = Object.keys(damages)): [string, string][] =>
  files.flatMap((file) => ways.map((way): [string, string] => [file, way]));
const path = (file: string): string => join(studio, file);

/** Everything works again, and what was accepted is there. */
async function allIsWell({ isReadHere = true }: { isReadHere?: boolean } = {}): Promise<void> {
  const number = await send(studio, 'laptop', 'after');
  if (isReadHere) expect(await inbox(studio, 'boss')).toEqual(['to studio']);
  for (const dir of [studio, laptop]) await sync(dir);
  expect(new Set(await inbox(laptop, 'qa'))).toEqual(new Set(['to laptop', 'queued', 'after']));
  expect(number).toBeGreaterThan(3);
  await on(studio, async (mesh) => {
    const { agents, machines } = await mesh.api.agents({}, call(mesh));
    expect(agents.map(({ agent_id }) => agent_id).sort()).toEqual(['boss', 'qa']);
    expect(machines.map(({ handle }) => handle).sort()).toEqual(['laptop', 'studio']);
    expect((await mesh.api.doctor()).problems).toEqual([]);
  });
  expect(fsck(studio)).toBe('');
}

const [empty, cut, zeros, flipped, missing] = Object.keys(damages) as [string, string, string, string, string];

test.each([
  ...rows(['HEAD', 'config'], [cut, zeros, missing]),
  ...rows(['mesh/config.json'], [empty, missing]),
  ...rows(['refs/heads/mesh/studio', 'refs/heads/mesh/laptop']),
  ...rows(['refs/heads/mesh/_charter', 'mesh/pins.json'], [zeros, missing]),
  ...rows(['refs/remotes/origin/mesh/laptop'], [empty, flipped]),
  ...rows(['mesh/remotes/origin.json', 'mesh/exports/usb.json', 'mesh/activity/boss'], [zeros]),
  ...rows(['mesh/sessions/boss.json'], [empty, cut]),
])('%s that is %s is healed by the next command', async (file, way) => {
  damages[way]?.(path(file));
  await allIsWell();
});

test('mesh/gitconfig that is full of zeros holds up no command', async () => {
  writeFileSync(path('mesh/gitconfig'), Buffer.alloc(100));
  await allIsWell();
});

// Its messages are found again, under new numbers: who has read them and who has not is not known of those that were
// acknowledged nowhere.
test.each(rows(['mesh/journal']))('%s that is %s is made again from the branches', async (file, way) => {
  damages[way]?.(path(file));
  await allIsWell({ isReadHere: false });
});

test('a journal that ends in zeros, or in half a line, is healed by the next command', async () => {
  for (const end of [Buffer.alloc(3000), Buffer.from('1234abcd {"kind":"mess')]) {
    restore('queued');
    writeFileSync(path('mesh/journal'), Buffer.concat([readFileSync(path('mesh/journal')), end]));
    await allIsWell();
  }
});

test('a damaged line in the middle of the journal loses no message', async () => {
  const lines = readFileSync(path('mesh/journal'), 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes('"sender":"laptop"') && line.includes('"kind":"message"'));
  lines[at] = lines[at]?.replace('"kind"', '"kinx"') ?? '';
  writeFileSync(path('mesh/journal'), lines.join('\n'));
  await allIsWell();
});

test('packed-refs that is full of zeros is healed from the journal and the objects', async () => {
  git.git(['-C', studio, 'pack-refs', '--all']);
  damages[zeros]?.(path('packed-refs'));
  await allIsWell();
});

const packs = (end: string): string[] =>
  readdirSync(path('objects/pack'))
    .filter((name) => name.endsWith(end))
    .map((name) => join('objects/pack', name));

test.each(Object.keys(damages))('packs that are %s are put aside, and what they held is fetched again', async (way) => {
  restore('pushed');
  for (const pack of packs('.pack')) damages[way]?.(path(pack));
  await sync(studio);
  await sync(studio);
  await send(studio, 'laptop', 'queued');
  await allIsWell();
});

test.each(Object.keys(damages))('indexes of packs that are %s are made again', async (way) => {
  for (const pack of packs('.idx')) damages[way]?.(path(pack));
  await allIsWell();
});

test.each([empty, cut, zeros, flipped])('a loose object that is %s is fetched again', async (way) => {
  restore('pushed');
  const folder = path('objects/pack');
  const contents = packs('.pack').map((pack) => readFileSync(path(pack)));
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  for (const input of contents) git.git(['-C', studio, 'unpack-objects', '-q'], input);
  const tip = git.git(['-C', studio, 'rev-parse', 'refs/heads/mesh/laptop']);
  const tree = git.git(['-C', studio, 'rev-parse', 'refs/heads/mesh/laptop^{tree}']);
  for (const oid of [tip, tree]) damages[way]?.(path(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`));
  await sync(studio);
  await sync(studio);
  await send(studio, 'laptop', 'queued');
  await allIsWell();
});

test.each([
  [empty, ''],
  [cut, '{"identity":{"pid":12'],
  [zeros, '\0\0\0\0\0\0\0\0'],
])('a lock that is %s keeps nothing from being read, is named, and is passed once it is old', async (_way, text) => {
  for (const lock of ['mesh/lock', 'refs/heads/mesh/studio.lock']) {
    restore('queued');
    writeFileSync(path(lock), text);
    expect(await inbox(studio, 'boss')).toEqual(['to studio']);
    await on(studio, async (mesh) => {
      const { problems } = await mesh.api.doctor();
      expect(problems).toContainEqual(expect.objectContaining({ kind: 'lock_unnamed', path: lock }) as unknown);
    });
    const then = new Date(Date.now() - 11 * 60_000);
    utimesSync(path(lock), then, then);
    await allIsWell();
  }
});

test.each(Object.keys(damages))('mesh/key that is %s is named, with what to do', async (way) => {
  damages[way]?.(path('mesh/key'));
  // A key that is flipped where it says nothing is as good as before.
  const failure = await openMesh(options(studio)).then(
    async (mesh) => {
      await mesh.close();
      return null;
    },
    (error: unknown) => error,
  );
  if (failure === null) expect(way).toBe(flipped);
  else
    expect(failure).toMatchObject({ errorName: 'store_damaged', message: expect.stringMatching(/backup/) as string });
});
