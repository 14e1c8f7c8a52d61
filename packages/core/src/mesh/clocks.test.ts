import { afterEach, beforeEach, expect, test } from 'vitest';
import { toIso } from '../domain/ids.js';
import type { AgentId } from '../domain/ids.js';
import { encodeMessage } from '../domain/message-record.js';
import { encodePresence } from '../domain/presence-record.js';
import type { PresenceRecord } from '../domain/records.js';
import { nextUlid } from '../domain/ulid.js';
import { commitOnBranch } from '../store/commit.js';
import { testMesh } from '../testing/index.js';
import type { TestMachine, TestMesh } from '../testing/index.js';
import { housekeeping } from './housekeeping.js';

/** All machines of the test share one clock: a machine's own is wrong while it acts, and put right before others look. */
let mesh: TestMesh;
let studio: TestMachine;
let laptop: TestMachine;

beforeEach(async () => {
  mesh = await testMesh('studio', 'laptop');
  [studio, laptop] = mesh.machines as [TestMachine, TestMachine];
});
afterEach(() => mesh.remove());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

async function withClockOff(ms: number, act: () => Promise<unknown>): Promise<void> {
  mesh.clock.advance(ms);
  await act();
  mesh.clock.advance(-ms);
}

async function aliveAt(reader: TestMachine): Promise<string[]> {
  const { agents } = await reader.api.agents({}, reader.call());
  return agents.map((agent) => `${agent.machine}/${agent.agent_id}`);
}

async function publish(from: TestMachine, path: string, bytes: Uint8Array): Promise<void> {
  await from.store.withLock(() =>
    commitOnBranch(from.store, {
      edits: new Map([[path, bytes]]),
      event: { event: 'renew', agent: null, messages: [], read: [], journal: 0, summary: 'x' },
      at: mesh.clock.now(),
    }),
  );
}

function presence(from: number, ttl = 3600): PresenceRecord {
  return {
    agent: 'ghost' as AgentId,
    role: null,
    repo: null,
    caps: [],
    status: 'here',
    status_since: toIso(from),
    checked_in_at: toIso(from),
    last_activity_at: toIso(from),
    expires_at: toIso(from + ttl * 1000),
    ttl_seconds: ttl,
  };
}

test('an agent that checked in while its clock was years ahead is alive elsewhere for its ttl, and no longer', async () => {
  await withClockOff(4 * year, () => studio.checkin('boss', { ttl_seconds: 3600 }));
  await laptop.receive(studio);
  const { agents } = await laptop.api.agents({}, laptop.call());
  expect(agents).toMatchObject([
    { agent_id: 'boss', alive: true, last_activity_at: toIso(mesh.clock.now()), status_age_s: null },
  ]);
  expect(agents[0]?.expires_at).toBe(toIso(mesh.clock.now() + hour));
  mesh.clock.advance(hour - 1);
  expect(await aliveAt(laptop)).toEqual(['studio/boss']);
  mesh.clock.advance(1);
  expect(await aliveAt(laptop)).toEqual([]);
});

test('the commits that a branch makes later do not prolong the life of a record of the future', async () => {
  await withClockOff(4 * year, () => studio.checkin('boss', { ttl_seconds: 3600 }));
  await laptop.receive(studio);
  await publish(studio, 'presence/ghost.yaml', encodePresence(presence(mesh.clock.now() + 4 * year)));
  for (let minutes = 0; minutes < 55; minutes += 5) {
    mesh.clock.advance(5 * minute);
    await publish(studio, 'presence/other.yaml', new TextEncoder().encode(`${minutes}\n`));
    await laptop.receive(studio);
  }
  expect(await aliveAt(laptop)).toEqual(['studio/boss', 'studio/ghost']);
  mesh.clock.advance(5 * minute);
  expect(await aliveAt(laptop)).toEqual(['studio/ghost']);
  mesh.clock.advance(5 * minute);
  expect(await aliveAt(laptop)).toEqual([]);
  expect(await aliveAt(await laptop.reopened())).toEqual([]);
});

test('a machine whose clock is a little ahead is judged like any other while its agent acts', async () => {
  const off = 10 * minute;
  await withClockOff(off, () => studio.checkin('boss', { ttl_seconds: 60 }));
  await laptop.receive(studio);
  for (let second = 0; second < 300; second += 10) {
    expect(await aliveAt(laptop)).toEqual(['studio/boss']);
    mesh.clock.advance(10_000);
    await withClockOff(off, async () => {
      await studio.api.agents({ agent_id: 'boss' }, studio.call());
      await housekeeping(studio.ctx);
    });
    await laptop.receive(studio);
  }
  mesh.clock.advance(60_000);
  expect(await aliveAt(laptop)).toEqual([]);
});

test('once the clock is put right, the own record is brought back and ends after its ttl here too', async () => {
  await withClockOff(4 * year, () => studio.checkin('boss', { ttl_seconds: 3600 }));
  await housekeeping(studio.ctx);
  expect((await studio.subjects()).at(-1)).toMatch(/^renew boss/);
  const branch = await studio.ctx.branches.ownBranch();
  const [record] = await studio.ctx.branches.presence(branch);
  expect(record).toMatchObject({
    last_activity_at: toIso(mesh.clock.now()),
    expires_at: toIso(mesh.clock.now() + hour),
  });
  mesh.clock.advance(hour - 1);
  expect(await aliveAt(studio)).toEqual(['studio/boss']);
  const commits = (await studio.subjects()).length;
  await housekeeping(studio.ctx);
  expect((await studio.subjects()).length).toBe(commits);
  mesh.clock.advance(1);
  expect(await aliveAt(studio)).toEqual([]);
});

test('an agent that goes on after its clock was put right stays alive everywhere', async () => {
  await withClockOff(4 * year, () => studio.checkin('boss', { ttl_seconds: 60 }));
  for (let second = 0; second < 300; second += 5) {
    mesh.clock.advance(5_000);
    await studio.api.inbox({ agent_id: 'boss' }, studio.call());
    await housekeeping(studio.ctx);
    await laptop.receive(studio);
    expect(await aliveAt(laptop)).toEqual(['studio/boss']);
  }
  mesh.clock.advance(60_000);
  expect(await aliveAt(laptop)).toEqual([]);
  expect(await aliveAt(studio)).toEqual([]);
});

test('a clock that was a second ahead makes no commit', async () => {
  await withClockOff(1000, () => studio.checkin('boss'));
  const commits = (await studio.subjects()).length;
  await housekeeping(studio.ctx);
  expect((await studio.subjects()).length).toBe(commits);
});

test('a machine of the future was last seen when its branch came', async () => {
  await withClockOff(4 * year, () => studio.checkin('boss'));
  await laptop.receive(studio);
  const came = toIso(mesh.clock.now());
  mesh.clock.advance(hour);
  const { machines } = await laptop.api.agents({}, laptop.call());
  expect(machines.find(({ handle }) => handle === 'studio')?.last_seen_at).toBe(came);
});

test('a message of a clock that is ahead lives as long as it would have with a right one', async () => {
  await laptop.checkin('qa', { ttl_seconds: 86_400 });
  await withClockOff(2 * hour, () =>
    studio.api.send({ to: 'laptop', msg_type: 'note', ttl_seconds: 3600 }, studio.call()),
  );
  await laptop.receive(studio);
  const read = async (): Promise<string[][]> =>
    (await laptop.api.inbox({ agent_id: 'qa' }, laptop.call())).messages.map((m) => [m.sent_at, m.expires_at]);
  const now = mesh.clock.now();
  expect(await read()).toEqual([[toIso(now), toIso(now + hour)]]);
  mesh.clock.advance(hour);
  expect(await read()).toEqual([]);
});

test('a message that claims a life of a century ends after thirty days', async () => {
  await laptop.checkin('qa');
  const now = mesh.clock.now();
  const id = nextUlid({ now, random: studio.ctx.random, last: null });
  const message = encodeMessage({
    id,
    type: 'freeze',
    from: { machine: studio.handle },
    to: { machine: '*' },
    sent_at: toIso(now),
    expires_at: toIso(now + 100 * year),
    payload: { repo: 'shop' },
  });
  await publish(studio, `messages/_all/2026-12-02/1000/${id}.yaml`, message);
  await laptop.receive(studio);
  const freezes = async (): Promise<unknown[]> => (await laptop.api.agents({}, laptop.call())).freezes;
  expect(await freezes()).toMatchObject([{ id, expires_at: toIso(now + 30 * day) }]);
  mesh.clock.advance(30 * day);
  expect(await freezes()).toEqual([]);
  const { missed } = await laptop.checkin('qa');
  expect(missed.ids).toEqual([]);
});

test('a freeze that was sent while the own clock was years ahead ends after its life, here as elsewhere', async () => {
  await withClockOff(10 * year, () =>
    studio.api.send({ to: '*', msg_type: 'freeze', ttl_seconds: 3600, payload: { repo: 'shop' } }, studio.call()),
  );
  mesh.clock.advance(minute);
  await studio.checkin('boss');
  await laptop.receive(studio);
  const held = async (at: TestMachine): Promise<number> => (await at.api.agents({}, at.call())).freezes.length;
  expect([await held(studio), await held(laptop)]).toEqual([1, 1]);
  mesh.clock.advance(hour);
  expect([await held(studio), await held(laptop)]).toEqual([0, 0]);
  expect(await held(await studio.reopened())).toBe(0);
  mesh.clock.advance(day);
  await housekeeping(studio.ctx);
  expect(await studio.subjects()).toContainEqual(expect.stringMatching(/^expire freeze/));
});

test('a clock that falls back to 1970 for a while ends nothing before its time', async () => {
  await laptop.checkin('qa', { ttl_seconds: 86_400 });
  await studio.api.send({ to: 'laptop', msg_type: 'note' }, studio.call());
  await laptop.receive(studio);
  await withClockOff(-mesh.clock.now(), async () => {
    mesh.clock.advance(hour);
    await studio.checkin('other');
    await laptop.receive(studio);
    await housekeeping(studio.ctx);
    await housekeeping(laptop.ctx);
  });
  await housekeeping(studio.ctx);
  await laptop.receive(studio);
  await laptop.checkin('qa');
  expect((await laptop.store.journal.view()).messages.length).toBe(1);
  const { messages } = await studio.api.sent({}, studio.call());
  expect(messages).toMatchObject([{ state: 'queued' }]);
  expect((await studio.git('ls-tree', '-r', '--name-only', studio.store.branch)).includes('messages/laptop')).toBe(
    true,
  );
});
