import { expect, test } from 'vitest';
import { branchRef } from '../domain/layout.js';
import type { TestMachine } from '../testing/index.js';
import { commitOnBranch } from '../store/commit.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { examineOwnBranch } from './examine-store.js';
import { housekeeping } from './housekeeping.js';
import { commitReceipts } from './receipts.js';
import { eventOf } from './write.js';

/** All machines share one clock: it is off while studio acts or takes something in, and right for laptop. */
const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const minute = 60_000;
const year = 365 * 24 * 60 * minute;
let off = 0;

async function atStudio<T>(act: () => Promise<T>): Promise<T> {
  mesh.clock.advance(off);
  const done = await act();
  mesh.clock.advance(-off);
  return done;
}

/** Both take in what the other has and state that they read it, until both have that too. */
async function exchange(): Promise<void> {
  await atStudio(() => read(studio, laptop));
  await read(laptop, studio);
  await atStudio(() => studio.receive(laptop));
}

async function read(reader: TestMachine, from: TestMachine): Promise<void> {
  await reader.receive(from);
  const { handle, store, ctx } = from;
  await reader.store.withLock(() => reader.store.local.pin(handle, store.signer.publicKey));
  const { tip, seq } = await ctx.branches.ownBranch();
  await commitReceipts(reader.ctx, [{ handle, tip, seq }]);
}

async function alive(at: TestMachine): Promise<string[]> {
  const { agents } = await at.api.agents({}, at.call());
  return agents.map(({ machine, agent_id }) => `${machine}/${agent_id}`);
}

const skews = async (at: TestMachine): Promise<object[]> =>
  (await at.api.status()).problems.filter(({ kind }) => kind === 'clock_skew');

test.each([-10, 10])('agents of a machine whose clock is %i minutes off live for their ttl', async (minutes) => {
  off = minutes * minute;
  await exchange();
  await atStudio(() => studio.checkin('boss', { ttl_seconds: 60 }));
  await laptop.checkin('qa', { ttl_seconds: 60 });
  await exchange();
  for (let second = 0; second < 90; second += 15) {
    expect(await alive(laptop)).toEqual(['laptop/qa', 'studio/boss']);
    expect(await atStudio(() => alive(studio))).toEqual(['laptop/qa', 'studio/boss']);
    const sent = await laptop.api.send({ to: 'studio', to_agent: 'boss', msg_type: 'note' }, laptop.call());
    expect(sent.recipients).toEqual(['boss']);
    mesh.clock.advance(15_000);
    await laptop.api.inbox({ agent_id: 'qa' }, laptop.call());
    await housekeeping(laptop.ctx);
    await atStudio(async () => {
      await studio.api.inbox({ agent_id: 'boss' }, studio.call());
      await housekeeping(studio.ctx);
    });
    await exchange();
  }
  mesh.clock.advance(61_000);
  expect(await alive(laptop)).toEqual([]);
  expect(await atStudio(() => alive(studio))).toEqual([]);
});

test.each([
  [-10, 'behind this'],
  [10, 'ahead of this'],
])('a clock that is %i minutes off is reported until newer commits prove it right', async (minutes, direction) => {
  off = minutes * minute;
  await laptop.checkin('qa');
  await exchange();
  const problem = { kind: 'clock_skew', machine: 'studio', message: expect.stringContaining(direction) as string };
  expect(await skews(laptop)).toMatchObject([problem]);
  expect((await laptop.api.doctor()).problems).toContainEqual(expect.objectContaining(problem));
  off = 0;
  mesh.clock.advance(minute);
  await studio.checkin('boss');
  await laptop.receive(studio);
  expect(await skews(laptop)).toEqual([]);
});

test('a machine that only claims to be years behind gives its agents no life beyond their ttl', async () => {
  off = 0;
  await studio.checkin('boss', { ttl_seconds: 60 });
  const path = 'presence/boss.yaml';
  const bytes = await studio.git('show', `${studio.store.branch}:${path}`);
  off = -4 * year;
  await exchange();
  // Behind by its commits' dates and receipts, not by what the record says.
  await atStudio(() =>
    studio.store.withLock(() =>
      commitOnBranch(studio.store, {
        edits: new Map([[path, new TextEncoder().encode(`${bytes}\nnote: again\n`)]]),
        event: eventOf('renew', null, { summary: 'boss', journal: 0 }),
        at: mesh.clock.now(),
      }),
    ),
  );
  await laptop.receive(studio);
  expect(await skews(laptop)).toMatchObject([{ message: expect.stringContaining('behind') as string }]);
  mesh.clock.advance(59_999);
  expect(await alive(laptop)).toEqual(['studio/boss']);
  mesh.clock.advance(1);
  expect(await alive(laptop)).toEqual([]);
});

test('what arrives a day late proves nothing', async () => {
  off = 0;
  await laptop.checkin('qa');
  await exchange();
  await studio.checkin('boss');
  mesh.clock.advance(24 * 60 * minute);
  await laptop.receive(studio);
  expect(await skews(laptop)).toEqual([]);
});

test('a message of a machine that is behind is read, and ends after its life', async () => {
  off = -10 * minute;
  await laptop.checkin('qa', { ttl_seconds: 3600 });
  await exchange();
  await atStudio(() => studio.api.send({ to: 'laptop', msg_type: 'note', ttl_seconds: 60 }, studio.call()));
  await atStudio(() =>
    studio.api.send({ to: '*', msg_type: 'freeze', ttl_seconds: 60, payload: { repo: 'shop' } }, studio.call()),
  );
  await laptop.receive(studio);
  const shown = async (): Promise<[string[], number]> => {
    const { messages } = await laptop.api.inbox({ agent_id: 'qa' }, laptop.call());
    const { freezes } = await laptop.api.agents({}, laptop.call());
    return [messages.map(({ msg_type }) => msg_type), freezes.length];
  };
  expect(await shown()).toEqual([['note', 'freeze'], 1]);
  mesh.clock.advance(60_000);
  expect(await shown()).toEqual([[], 0]);
});

test('a machine that is behind when it first sees a branch takes nobody there for dead', async () => {
  off = -10 * minute;
  await laptop.checkin('qa', { ttl_seconds: 60 });
  const ref = branchRef(studio.store.config.ref_prefix, laptop.handle);
  const late = await studio.reopened();
  await late.git('fetch', '--quiet', laptop.store.dir, `+${ref}:${ref}`);
  // Without its journal, as between the fetch and the journaling.
  const { journal } = late.store;
  const view = await journal.view();
  Object.defineProperty(journal, 'view', {
    value: () => Promise.resolve(Object.assign(Object.create(view), { tips: () => [], cursor: () => undefined })),
  });
  expect(await atStudio(() => alive(late))).toEqual(['laptop/qa']);
});

test('an unnamed clear of a machine that is behind ends the freeze that it has seen', async () => {
  off = -10 * minute;
  const freeze = { to: '*', msg_type: 'freeze', payload: { repo: 'shop' } };
  await laptop.api.send(freeze, laptop.call());
  await exchange();
  const cleared = await atStudio(() => studio.api.send({ ...freeze, msg_type: 'freeze-clear' }, studio.call()));
  expect(cleared.warning ?? '').not.toContain('No freeze in force');
  await laptop.receive(studio);
  expect((await laptop.api.agents({}, laptop.call())).freezes).toEqual([]);
});

test('a clock that was years ahead once breaks no later freeze and no later clear', async () => {
  off = 4 * year;
  const say = (from: TestMachine, msg_type: string): Promise<{ id: string }> =>
    from.api.send({ to: '*', msg_type, payload: { repo: 'shop' } }, from.call());
  const held = async (): Promise<number[]> => {
    await exchange();
    return Promise.all([studio, laptop].map(async (at) => (await at.api.agents({}, at.call())).freezes.length));
  };
  await atStudio(() => say(studio, 'freeze'));
  await laptop.receive(studio);
  off = 0;
  mesh.clock.advance(minute);
  expect(await held()).toEqual([1, 1]);
  await say(laptop, 'freeze-clear');
  expect(await held()).toEqual([0, 0]);
  await say(laptop, 'freeze');
  expect(await held()).toEqual([1, 1]);
  await say(studio, 'freeze-clear');
  expect(await held()).toEqual([0, 0]);
  await say(laptop, 'freeze');
  expect(await held()).toEqual([1, 1]);
});

test('commits of a clock that was years ahead once are dated by it again, and doctor is content', async () => {
  off = 4 * year;
  await atStudio(() => studio.checkin('boss'));
  expect(await examineOwnBranch(studio.ctx)).toMatchObject([{ kind: 'clock_behind' }]);
  off = 0;
  mesh.clock.advance(minute);
  await studio.checkin('other');
  expect(await studio.git('log', '-1', '--format=%ct', studio.store.branch)).toBe(
    `${Math.floor(mesh.clock.now() / 1000)}`,
  );
  expect(await examineOwnBranch(studio.ctx)).toEqual([]);
});

test('ULIDs rise across restarts while the clock steps back', async () => {
  const ids: string[] = [];
  for (const step of [0, -minute, -year, 2 * minute, -50 * year]) {
    mesh.clock.advance(step);
    const fresh = await studio.reopened();
    const input = { to: 'laptop', msg_type: 'note' };
    for (let n = 0; n < 2; n++) ids.push((await fresh.api.send(input, fresh.call())).id);
    // What the other machine sends has no part in it.
    await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());
    await fresh.receive(laptop);
  }
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});
