import { expect, test } from 'vitest';
import { encodeAck } from '../domain/ack-record.js';
import { toIso } from '../domain/ids.js';
import type { AgentId, Oid, Ulid } from '../domain/ids.js';
import { ackPath, receiptPath } from '../domain/layout.js';
import { encodeReceipt } from '../domain/receipt-record.js';
import { commitOnBranch } from '../store/commit.js';
import { keyFingerprint } from '../store/public-key.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop, desk } = meshForEach('studio', 'laptop', 'desk');

/** Puts a file on a machine's own branch, signed by its key, as anybody who holds that key can. */
async function state(machine: TestMachine, path: string, bytes: Uint8Array): Promise<void> {
  await machine.store.withLock(() =>
    commitOnBranch(machine.store, {
      edits: new Map([[path, bytes]]),
      event: { event: 'ack', agent: null, messages: [], read: [], summary: 'forged' },
      author: null,
      at: mesh.clock.now(),
    }),
  );
  await studio.receive(machine);
}

const ackBy = (id: string, agent: string): Uint8Array =>
  encodeAck({ id: id as Ulid, acks: [{ agent: agent as AgentId, at: toIso(mesh.clock.now()) }] });

async function toQa(): Promise<string> {
  await laptop.checkin('qa');
  await studio.receive(laptop);
  const input = { to: 'laptop', to_agent: 'qa', msg_type: 'handoff', payload: {} };
  return (await studio.api.send(input, studio.call())).id;
}

const newest = async (): Promise<unknown> => (await studio.api.sent({}, studio.call())).messages[0];

test('a machine that a message was not sent to cannot acknowledge it', async () => {
  const id = await toQa();
  await state(desk, ackPath(studio.handle, id as Ulid), ackBy(id, 'qa'));
  expect(await newest()).toMatchObject({ state: 'queued', acks: [], delivered_to: [] });
});

test('only the agent that a message was directed to acknowledges it', async () => {
  const id = await toQa();
  await state(laptop, ackPath(studio.handle, id as Ulid), ackBy(id, 'dev'));
  expect(await newest()).toMatchObject({ state: 'queued', acks: [] });
  await state(laptop, ackPath(studio.handle, id as Ulid), ackBy(id, 'QA'));
  expect(await newest()).toMatchObject({ state: 'acked', acks: [{ machine: 'laptop', agent: 'QA' }] });
});

test('a receipt for a commit that is not on the own branch delivers nothing, whatever its number', async () => {
  await toQa();
  const own = await studio.ctx.branches.ownBranch();
  const receipt = (commit: Oid): Uint8Array =>
    encodeReceipt({
      delivered_through: { seq: own.seq, commit },
      at: toIso(mesh.clock.now()),
      key: keyFingerprint(studio.store.signer.publicKey),
    });
  await state(laptop, receiptPath(studio.handle), receipt('1'.repeat(40) as Oid));
  expect(await newest()).toMatchObject({ state: 'queued', delivered_at: null });
  await state(laptop, receiptPath(studio.handle), receipt(own.tip));
  expect(await newest()).toMatchObject({ state: 'delivered' });
});
