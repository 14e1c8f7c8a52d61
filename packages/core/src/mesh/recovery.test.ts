import { cp, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { agentKey, parseAgentId, parseHandle, toIso } from '../domain/ids.js';
import type { Ulid } from '../domain/ids.js';
import { messagePath } from '../domain/layout.js';
import { encodeMessage } from '../domain/message-record.js';
import { nextUlid } from '../domain/ulid.js';
import { commitOnBranch } from '../store/commit.js';
import { fsck } from '../testing/index.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { housekeeping } from './housekeeping.js';
import { commitReceipts } from './receipts.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const sendFrom = async (from: TestMachine, to: string): Promise<number> =>
  (await from.api.send({ to, msg_type: 'note' }, from.call())).message_id;

const inbox = async (machine: TestMachine, agent: string): Promise<number[]> =>
  (await machine.api.inbox({ agent_id: agent }, machine.call())).messages.map((message) => message.message_id);

/** A send that was killed between its commit and the journal. */
async function commitOnly(machine: TestMachine, journal: number): Promise<Ulid> {
  const now = mesh.clock.now();
  const id = nextUlid({ now, random: machine.ctx.random, last: null });
  const to = { machine: parseHandle('laptop') };
  const record = {
    id,
    type: 'note' as const,
    from: { machine: machine.handle },
    to,
    sent_at: toIso(now),
    expires_at: toIso(now + 3_600_000),
    payload: {},
  };
  await machine.store.withLock(() =>
    commitOnBranch(machine.store, {
      edits: new Map([[messagePath({ to: to.machine, id }), encodeMessage(record)]]),
      event: { event: 'send', agent: null, messages: [id], read: [], journal, summary: 'x' },
      at: now,
    }),
  );
  return id;
}

test('a message whose sender was killed before the journal is journaled once, with the number of its commit', async () => {
  await sendFrom(studio, 'laptop');
  const id = await commitOnly(studio, 2);
  mesh.clock.advance(1000);
  const other = await studio.reopened();
  expect(await sendFrom(other, 'laptop')).toBe(3);
  expect(await sendFrom(studio, 'laptop')).toBe(4);
  const { messages } = await studio.store.journal.view();
  expect(messages.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  expect(messages[1]?.id).toBe(id);
  expect(await fsck(studio.store.dir)).toBe('');
});

test('after the journal is lost numbers go on at least 10,000 above, and old mail does not come back', async () => {
  await sendFrom(laptop, 'studio');
  await studio.receive(laptop);
  await studio.checkin('boss');
  expect(await sendFrom(studio, 'studio')).toBe(2);
  await sendFrom(laptop, 'studio');
  await studio.receive(laptop);
  expect(await sendFrom(studio, 'laptop')).toBe(4);
  expect(await inbox(studio, 'boss')).toEqual([2, 3]);

  await rm(studio.store.journal.file);
  const other = await studio.reopened();
  const next = await sendFrom(other, 'studio');
  expect(next).toBeGreaterThanOrEqual(10_004);
  expect(await inbox(other, 'boss')).toEqual([next]);
  await other.receive(laptop);
  expect(await inbox(other, 'boss')).toEqual([next]);
  await sendFrom(laptop, 'studio');
  await other.receive(laptop);
  expect(await inbox(other, 'boss')).toEqual([next, next + 1]);
  const numbers = (await other.store.journal.view()).messages.map(({ n }) => n);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(Math.min(...numbers)).toBeGreaterThan(10_004);
});

test('a journal that was put back from a backup gives no number twice', async () => {
  await sendFrom(studio, 'laptop');
  const { file } = studio.store.journal;
  await cp(file, `${file}.backup`);
  await sendFrom(laptop, 'studio');
  await studio.receive(laptop);
  await studio.checkin('boss');
  expect(await sendFrom(studio, 'laptop')).toBe(3);
  await cp(`${file}.backup`, file);
  const other = await studio.reopened();
  const next = await sendFrom(other, 'studio');
  expect(next).toBeGreaterThanOrEqual(10_003);
  expect(await inbox(other, 'boss')).toEqual([next]);
});

test('a backup that lacks only own messages gets them their old numbers', async () => {
  await sendFrom(studio, 'laptop');
  const { file } = studio.store.journal;
  await cp(file, `${file}.backup`);
  mesh.clock.advance(10);
  await sendFrom(studio, 'laptop');
  mesh.clock.advance(10);
  await sendFrom(studio, 'laptop');
  const before = (await studio.store.journal.view()).messages.map(({ n, id }) => [n, id]);
  await cp(`${file}.backup`, file);
  const other = await studio.reopened();
  expect(await sendFrom(other, 'laptop')).toBe(4);
  expect((await other.store.journal.view()).messages.slice(0, 3).map(({ n, id }) => [n, id])).toEqual(before);
});

test('a store that was put back as a whole goes on from the branch that another machine still has', async () => {
  await studio.checkin('boss');
  await sendFrom(studio, 'laptop');
  const backup = `${studio.store.dir}.backup`;
  await cp(studio.store.dir, backup, { recursive: true });
  await sendFrom(laptop, 'studio');
  await studio.receive(laptop);
  await sendFrom(studio, 'laptop');
  await laptop.receive(studio);
  await rm(studio.store.dir, { recursive: true });
  await cp(backup, studio.store.dir, { recursive: true });

  const other = await studio.reopened();
  await other.git('fetch', '-q', laptop.store.dir, `+${studio.store.branch}:${studio.store.branch}`);
  const next = await sendFrom(other, 'laptop');
  expect(next).toBeGreaterThanOrEqual(10_003);
  await other.receive(laptop);
  // It came after the session's check-in, which the restored journal covers: it may be read again, but is not lost.
  expect((await inbox(other, 'boss')).length).toBe(1);
  expect((await other.store.local.session(agentKey(parseAgentId('boss'))))?.fence).toBe(0);
  expect(await fsck(other.store.dir)).toBe('');
});

/** Takes in a branch as a round does: with the key pinned, and a receipt where a message came. */
async function round(at: TestMachine, from: TestMachine): Promise<void> {
  await at.store.withLock(() => at.store.local.pin(from.handle, from.store.signer.publicKey));
  const before = (await at.store.journal.view()).messages.length;
  await at.receive(from);
  const branch = await at.ctx.branches.get(from.handle);
  if (branch !== null && (await at.store.journal.view()).messages.length > before)
    await commitReceipts(at.ctx, [branch]);
}

test('mail that comes with the very fetch that finds the journal lost is new, and what was read before is old', async () => {
  await sendFrom(laptop, 'studio');
  await round(studio, laptop);
  await studio.checkin('boss');
  await rm(studio.store.journal.file);
  const fresh = await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());

  const other = await studio.reopened();
  await other.receive(laptop);
  const { messages } = await other.api.inbox({ agent_id: 'boss' }, other.call());
  expect(messages.map(({ id }) => id)).toEqual([fresh.id]);
  expect((await other.store.journal.view()).messages.length).toBe(2);
});

test('the first mail of a machine is new although the journal was lost before it came', async () => {
  await sendFrom(studio, 'studio');
  await studio.checkin('boss');
  await studio.store.withLock(() => studio.store.local.pin(laptop.handle, laptop.store.signer.publicKey));
  await rm(studio.store.journal.file);
  const fresh = await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());
  const other = await studio.reopened();
  await other.receive(laptop);
  const { messages } = await other.api.inbox({ agent_id: 'boss' }, other.call());
  expect(messages.map(({ id }) => id)).toEqual([fresh.id]);
});

test('a receipt that a crash kept from being stated is stated by the next round, once', async () => {
  await round(studio, laptop);
  await sendFrom(laptop, 'studio');
  await studio.receive(laptop);
  const commits = (await studio.subjects()).length;
  await Promise.all([housekeeping(studio.ctx), housekeeping((await studio.reopened()).ctx)]);
  await housekeeping(studio.ctx);
  expect((await studio.subjects()).slice(commits)).toEqual([expect.stringMatching(/^receipt laptop/)]);
  await laptop.receive(studio);
  const { messages } = await laptop.api.sent({}, laptop.call());
  expect(messages).toMatchObject([{ state: 'delivered', delivered_to: [{ machine: 'studio' }] }]);
  const other = await laptop.store.local.pins();
  expect(other.size).toBe(0);
  const before = (await laptop.subjects()).length;
  await housekeeping(laptop.ctx);
  expect((await laptop.subjects()).length).toBe(before);
});

test('one ULID at two paths is one message, and leaves no line in the journal that is ignored', async () => {
  const now = mesh.clock.now();
  const id = nextUlid({ now, random: laptop.ctx.random, last: null });
  const twice = (to: '*' | 'studio'): Uint8Array =>
    encodeMessage({
      id,
      type: 'note',
      from: { machine: laptop.handle },
      to: { machine: to === '*' ? to : parseHandle(to) },
      sent_at: toIso(now),
      expires_at: toIso(now + 3_600_000),
      payload: {},
    });
  await laptop.store.withLock(() =>
    commitOnBranch(laptop.store, {
      edits: new Map([
        [messagePath({ to: '*', id }), twice('*')],
        [messagePath({ to: parseHandle('studio'), id }), twice('studio')],
      ]),
      event: { event: 'send', agent: null, messages: [id], read: [], journal: 1, summary: 'x' },
      at: now,
    }),
  );
  await studio.receive(laptop);
  expect((await studio.store.journal.view()).messages).toMatchObject([{ id, to: 'studio', n: 1 }]);
  expect(await studio.store.journal.damage()).toEqual([]);
  const own = await laptop.reopened();
  await own.api.send({ to: 'studio', msg_type: 'note' }, own.call());
  expect(await own.store.journal.damage()).toEqual([]);
});
