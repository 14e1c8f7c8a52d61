import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MessageEntry } from '../store/ports.js';
import { testMesh } from '../testing/mesh-fixture.js';
import type { TestMachine, TestMesh } from '../testing/mesh-fixture.js';
import { housekeeping } from './housekeeping.js';
import { settleJournal } from './settle-journal.js';

const hourMs = 3_600_000;
/** More than a journal keeps for being recent. */
const later = 310;
const text = { message: 'done' };

let mesh: TestMesh;
let studio: TestMachine;
let lab: TestMachine;
/** Read long ago, and pruned. */
let old: MessageEntry[];
/** Never read, and as old. */
let unread: MessageEntry;

const ids = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);

const sendMany = (count: number, input: object): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, () =>
      studio.api.send({ to: 'lab', msg_type: 'note', payload: text, ...input }, studio.call()),
    ),
  );

/** Another process, as every command is one. */
const command = (machine: TestMachine): Promise<TestMachine> => machine.reopened();

beforeAll(async () => {
  mesh = await testMesh('studio', 'lab');
  const [first, second] = mesh.machines;
  if (first === undefined || second === undefined) throw new Error('two machines were made');
  [studio, lab] = [first, second];
  await studio.checkin('boss', { ttl_seconds: 86_400 });
  await lab.checkin('qa', { ttl_seconds: 86_400 });
  await mesh.exchange();
  await sendMany(3, { to_agent: 'qa', from_agent: 'boss' });
  await sendMany(1, { to_agent: 'qa', from_agent: 'boss', payload: { message: 'unread' } });
  await studio.api.send(
    { to: 'lab', to_agent: 'qa', msg_type: 'note', from_agent: 'boss', key: 'once', payload: text },
    studio.call(),
  );
  await mesh.exchange();
  const { messages } = await lab.api.inbox({ agent_id: 'qa' }, lab.call());
  const read = messages.filter(({ payload }) => payload['message'] !== 'unread');
  await lab.api.ack({ agent_id: 'qa', message_ids: read.map((m) => m.message_id), confirm: true }, lab.call());
  await mesh.exchange();
  mesh.clock.advance(2 * hourMs);
  for (let pass = 0; pass < 2; pass++) {
    for (const { ctx } of mesh.machines) await housekeeping(ctx);
    await mesh.exchange();
  }
  // Addressed to nobody there, so that no inbox has them.
  await sendMany(later, { from_agent: 'boss' });
  await mesh.exchange();
  const { messages: all } = await lab.store.journal.view();
  old = all.filter(({ id }) => read.slice(0, 3).some((message) => message.id === id));
  unread = all.find((entry) => messages.some(({ id }) => id === entry.id) && !ids(read).includes(entry.id)) ?? fail();
  for (const { ctx } of mesh.machines) await settleJournal(ctx);
}, 60_000);
afterAll(() => mesh.remove());

function fail(): never {
  throw new Error('the unread message is not there');
}

describe('a journal that was settled', () => {
  it('holds no message that was read, pruned and is not recent, and every one that stands', async () => {
    for (const machine of mesh.machines) {
      const view = await (await command(machine)).store.journal.view();
      expect(old.map(({ id }) => view.byId(id))).toEqual([undefined, undefined, undefined]);
      expect(view.byId(unread.id)?.path).toBe(unread.path);
      expect(view.total).toBe(later + 5);
    }
    const { messages } = await (await command(lab)).api.inbox({ agent_id: 'qa', limit: 1 }, lab.call());
    expect(ids(messages)).toEqual([unread.id]);
  });

  it('gives numbers on, and none again to a message that comes back', async () => {
    const { highest } = await lab.store.journal.view();
    const [first] = old;
    if (first === undefined) throw new Error('it was read');
    // Its sender's branch holds it once more, as after a backup was put back.
    const file = await studio.git('cat-file', 'blob', first.blob);
    await studio.store.withLock(async () => {
      const { commitOnBranch } = await import('../store/commit.js');
      await commitOnBranch(studio.store, {
        edits: new Map([[first.path, Buffer.from(`${file}\n`)]]),
        event: { event: 'send', agent: null, messages: [], read: [], summary: 'again' },
        at: mesh.clock.now(),
      });
    });
    await sendMany(1, { from_agent: 'boss' });
    const process = await command(lab);
    await process.receive(studio);
    const view = await process.store.journal.view();
    expect(view.highest).toBe(highest + 1);
    expect((await process.store.journal.whole()).messages.filter(({ id }) => id === first.id)).toHaveLength(1);
  });

  it('still knows an old message by its number and by its id', async () => {
    const [first, second] = old;
    if (first === undefined || second === undefined) throw new Error('they were read');
    const process = await command(lab);
    const call = process.call({ agents: ['qa'] });
    const acked = await process.api.ack({ agent_id: 'qa', message_ids: [second.n], confirm: true }, call);
    expect(acked).toMatchObject({ acked: [], already_acked: [second.n] });
    const { events } = await process.api.trace({ id: second.n });
    expect(events.map(({ event }) => event)).toEqual(['send', 'ack', 'prune']);
    const { messages } = await process.api.inbox({ agent_id: 'qa', after: second.id, limit: 1 }, call);
    expect(ids(messages)).toEqual([unread.id]);
    const reply = { to: 'studio', msg_type: 'note', in_reply_to: second.n, from_agent: 'qa' };
    const sent = await process.api.send(reply, call);
    const entry = (await process.store.journal.view()).byNumber(sent.message_id);
    expect(entry?.in_reply_to).toBe(second.id);
    for await (const line of process.api.log({ agent: 'qa', type: undefined })) {
      if (line.event === 'ack') expect(line.message_id).toBeDefined();
    }
  });

  it('lists all that was sent, however far back, and sends nothing twice under a key', async () => {
    const process = await command(studio);
    const { messages } = await process.api.sent({ agent_id: 'boss', limit: 100 }, process.call());
    expect(messages).toHaveLength(100);
    const again = await process.api.send(
      { to: 'lab', to_agent: 'qa', msg_type: 'note', from_agent: 'boss', key: 'once', payload: text },
      process.call(),
    );
    expect(again.duplicate).toBe(true);
  });

  it('is as it was where it has grown by little', async () => {
    const snapshot = `${lab.store.journal.file}.snapshot`;
    const before = await stat(snapshot);
    await settleJournal(lab.ctx);
    expect((await stat(snapshot)).ino).toBe(before.ino);
  });
});
