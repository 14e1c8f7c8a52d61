import { expect, test } from 'vitest';
import type { SentMessage } from '../domain/results.js';
import { toIso } from '../domain/ids.js';
import type { Handle, Oid } from '../domain/ids.js';
import type { TestMachine } from '../testing/index.js';
import { housekeeping } from './housekeeping.js';
import { commitReceipts } from './receipts.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop, desk } = meshForEach('studio', 'laptop', 'desk');

const send = async (input: object = {}): Promise<string> =>
  (await studio.api.send({ to: 'laptop', msg_type: 'note', ...input }, studio.call())).id;
const newest = async (): Promise<SentMessage> => {
  const [message] = (await studio.api.sent({}, studio.call())).messages;
  if (message === undefined) throw new Error('nothing was sent');
  return message;
};

async function pushed(): Promise<void> {
  const branch = await studio.ctx.branches.ownBranch();
  const entry = { kind: 'pushed' as const, remote: 'origin', commit: branch.tip, seq: branch.seq };
  await studio.store.withLock(() =>
    studio.store.journal.append([{ ...entry, at: toIso(mesh.clock.now()) }], { durable: false }),
  );
}

/** What a round at `machine` does with what studio pushed: it takes it in and states its receipt. */
async function receivedBy(machine: TestMachine): Promise<void> {
  await machine.receive(studio);
  const key = studio.store.signer.publicKey;
  await machine.store.withLock(() => machine.store.local.pin(studio.handle, key));
  const branch = await machine.ctx.branches.get(studio.handle);
  if (branch !== null) await commitReceipts(machine.ctx, [branch]);
  await studio.receive(machine);
}

test('a message goes from queued to pushed to delivered to acked, with the times', async () => {
  await laptop.checkin('dev');
  await send({ payload: { n: 1 } });
  expect(await newest()).toMatchObject({ state: 'queued', pushed_at: null, delivered_at: null, acks: [] });
  mesh.clock.advance(1000);
  await pushed();
  expect(await newest()).toMatchObject({ state: 'pushed', pushed_at: '2026-12-02T10:00:01.000Z', delivered_to: [] });
  mesh.clock.advance(1000);
  await receivedBy(laptop);
  expect(await newest()).toMatchObject({
    state: 'delivered',
    delivered_at: '2026-12-02T10:00:02.000Z',
    delivered_to: [{ machine: 'laptop', at: '2026-12-02T10:00:02.000Z' }],
  });
  mesh.clock.advance(1000);
  await laptop.api.ack({ agent_id: 'dev', message_ids: [1], confirm: true }, laptop.call());
  await studio.receive(laptop);
  expect(await newest()).toMatchObject({
    state: 'acked',
    payload: { n: 1 },
    acks: [{ machine: 'laptop', agent: 'dev', at: '2026-12-02T10:00:03.000Z' }],
  });
});

test('a receipt covers what it has fetched and nothing later', async () => {
  const first = await send();
  await receivedBy(laptop);
  await send();
  const { messages } = await studio.api.sent({}, studio.call());
  expect(messages.map(({ id, state }) => [id === first, state])).toEqual([
    [false, 'queued'],
    [true, 'delivered'],
  ]);
});

test('the receipt names the commit that was read and the key that was pinned', async () => {
  await send();
  const tip = (await studio.tip()) as Oid;
  await receivedBy(laptop);
  const file = await laptop.git('show', `${laptop.store.branch}:receipts/studio.yaml`);
  expect(file).toContain(tip);
  expect(file).toMatch(/SHA256:/);
  const read = await laptop.git('log', '-1', '--format=%s|%(trailers:key=Mesh-Read,valueonly)', laptop.store.branch);
  expect(read.trim()).toBe(`receipt studio through 2|studio@${tip}`);
});

test('what nobody read in its life has expired; what was read stays acked', async () => {
  await laptop.checkin('dev', { ttl_seconds: 86_400 });
  await send({ ttl_seconds: 60 });
  await receivedBy(laptop);
  mesh.clock.advance(60_000);
  expect(await newest()).toMatchObject({ state: 'expired' });
  await laptop.api.ack({ agent_id: 'dev', message_ids: [1], confirm: true }, laptop.call());
  await studio.receive(laptop);
  expect((await newest()).state).toBe('acked');
});

test('for all machines it is the furthest that any came', async () => {
  await send({ to: '*' });
  await pushed();
  expect((await newest()).state).toBe('pushed');
  mesh.clock.advance(1000);
  await receivedBy(desk);
  mesh.clock.advance(1000);
  await receivedBy(laptop);
  const message = await newest();
  expect(message.state).toBe('delivered');
  expect(message.delivered_to.map(({ machine }) => machine)).toEqual(['desk', 'laptop'] as Handle[]);
});

test('messages are listed newest first, by agent, up to a limit, and after they were pruned too', async () => {
  await studio.checkin('boss', { ttl_seconds: 86_400 });
  const early = await send({ from_agent: 'boss', ttl_seconds: 60, payload: { n: 'early' } });
  await send({ ttl_seconds: 2_592_000 });
  const late = await send({ from_agent: 'boss', ttl_seconds: 2_592_000 });
  mesh.clock.advance(60_000 + 86_400_000);
  await housekeeping(studio.ctx);
  expect(await studio.git('ls-tree', '-r', '--name-only', studio.store.branch)).not.toContain(early);
  const mine = await studio.api.sent({ agent_id: 'BOSS' }, studio.call());
  expect(mine.messages.map(({ id }) => id)).toEqual([late, early]);
  expect(mine.messages[1]).toMatchObject({ payload: { n: 'early' }, state: 'expired', message_id: 1 });
  expect((await studio.api.sent({ limit: 1 }, studio.call())).messages.map(({ id }) => id)).toEqual([late]);
});
