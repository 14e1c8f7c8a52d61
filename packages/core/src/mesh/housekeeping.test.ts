import { expect, test } from 'vitest';
import type { TestMachine } from '../testing/index.js';
import { housekeeping } from './housekeeping.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const send = async (input: object = {}): Promise<string> =>
  (await studio.api.send({ to: 'laptop', msg_type: 'note', ...input }, studio.call())).id;
const files = async (machine: TestMachine): Promise<string> =>
  machine.git('ls-tree', '-r', '--name-only', machine.store.branch);
/** Subjects that one call of housekeeping added. */
async function added(machine: TestMachine): Promise<string[]> {
  const before = (await machine.subjects()).length;
  await housekeeping(machine.ctx);
  return (await machine.subjects()).slice(before);
}

test('where nothing is due there is no commit and the lock is not taken', async () => {
  await studio.checkin('boss');
  await send();
  await studio.store.withLock(async () => {
    // Held here for another process: whoever would want it waits for 15 s and fails.
    const other = await studio.reopened();
    const start = Date.now();
    await housekeeping(other.ctx);
    expect(Date.now() - start).toBeLessThan(5_000);
  });
  expect(await added(studio)).toEqual([]);
});

test('a message that nobody read ends a day after its expiry in a commit of its own', async () => {
  await send({ ttl_seconds: 60, from_agent: 'boss', msg_type: 'handoff' });
  await send({ ttl_seconds: 60, to: '*' });
  mesh.clock.advance(60_000 + dayMs - 1);
  expect(await added(studio)).toEqual([]);
  mesh.clock.advance(1);
  expect(await added(studio)).toEqual([
    'expire handoff boss -> laptop: never acked',
    'expire note studio -> *: never acked',
  ]);
  expect(await files(studio)).toBe('machine.yaml');
  expect(await added(studio)).toEqual([]);
});

test('a backlog of messages that nobody read is worked off a part at a time', async () => {
  for (let i = 0; i < 52; i++) await send({ ttl_seconds: 60 });
  mesh.clock.advance(60_000 + dayMs);
  expect((await added(studio)).length).toBe(50);
  expect((await added(studio)).length).toBe(2);
  expect(await added(studio)).toEqual([]);
});

test('a directed message goes an hour after it was read, its acknowledgement once it is gone, and it does not come back', async () => {
  await laptop.checkin('dev', { ttl_seconds: 86_400 });
  await studio.receive(laptop);
  const id = await send({ to_agent: 'dev' });
  const toAll = await send();
  await laptop.receive(studio);
  await laptop.api.ack({ agent_id: 'dev', message_ids: [1, 2], confirm: true }, laptop.call());
  await studio.receive(laptop);
  mesh.clock.advance(hourMs - 1);
  expect(await added(studio)).toEqual([]);
  mesh.clock.advance(1);
  expect(await added(studio)).toEqual(['prune 1 message']);
  expect(await files(studio)).not.toContain(id);
  expect(await files(studio)).toContain(toAll);
  expect(await added(laptop)).toEqual([]);
  await laptop.receive(studio);
  expect(await added(laptop)).toEqual(['prune 1 ack']);
  expect(await files(laptop)).toContain(`acks/studio/${toAll}.yaml`);
  expect((await laptop.api.inbox({ agent_id: 'dev' }, laptop.call())).messages).toEqual([]);
  expect(await added(laptop)).toEqual([]);
  await studio.receive(laptop);
  expect((await studio.api.sent({}, studio.call())).messages.map(({ state }) => state)).toEqual(['acked', 'acked']);
});

test('a message to all that was read goes with its expiry, without a commit of its own', async () => {
  await laptop.checkin('dev');
  await send({ ttl_seconds: 60 });
  await laptop.receive(studio);
  await laptop.api.ack({ agent_id: 'dev', message_ids: [1], confirm: true }, laptop.call());
  await studio.receive(laptop);
  mesh.clock.advance(60_000 + dayMs);
  expect(await added(studio)).toEqual(['prune 1 message']);
});

test('a freeze in force is never pruned, however it was read, and its clear is kept as long', async () => {
  await laptop.checkin('dev', { ttl_seconds: 86_400 });
  await studio.receive(laptop);
  const freeze = await send({
    msg_type: 'freeze',
    to_agent: 'dev',
    ttl_seconds: 10 * 86_400,
    payload: { repo: 'shop' },
  });
  await laptop.receive(studio);
  await laptop.api.ack({ agent_id: 'dev', message_ids: [1], confirm: true }, laptop.call());
  await studio.receive(laptop);
  mesh.clock.advance(2 * dayMs);
  await housekeeping(studio.ctx);
  expect(await files(studio)).toContain(freeze);
  const clear = await send({ msg_type: 'freeze-clear', in_reply_to: freeze, ttl_seconds: 60 });
  mesh.clock.advance(2 * dayMs);
  await housekeeping(studio.ctx);
  expect(await files(studio)).not.toContain(freeze);
  expect(await files(studio)).toContain(clear);
  mesh.clock.advance(6 * dayMs);
  await housekeeping(studio.ctx);
  expect(await files(studio)).not.toContain(clear);
});

test('a presence record stays for a day after its expiry', async () => {
  await studio.checkin('boss', { ttl_seconds: 60 });
  mesh.clock.advance(60_000 + dayMs - 1);
  expect(await added(studio)).toEqual([]);
  expect((await studio.api.agents({ include_stale: true }, studio.call())).agents[0]).toMatchObject({ alive: false });
  mesh.clock.advance(1);
  expect(await added(studio)).toEqual(['prune 1 presence record']);
  expect((await studio.api.agents({ include_stale: true }, studio.call())).agents).toEqual([]);
});

test('a renewal rides along with a commit of the same agent once a tenth of the ttl has passed', async () => {
  await studio.checkin('boss', { ttl_seconds: 1000 });
  mesh.clock.advance(99_000);
  await send({ from_agent: 'boss' });
  expect(await studio.git('show', `${studio.store.branch}:presence/boss.yaml`)).toContain('10:16:40');
  mesh.clock.advance(1000);
  await send({ from_agent: 'boss' });
  expect(await studio.git('show', `${studio.store.branch}:presence/boss.yaml`)).toContain('10:18:20');
  expect((await studio.subjects()).length).toBe(4);
});
