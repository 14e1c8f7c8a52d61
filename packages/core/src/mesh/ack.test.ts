import { beforeEach, expect, test } from 'vitest';
import type { AckResult } from '../domain/results.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { housekeeping } from './housekeeping.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');
let ids: string[];

beforeEach(async () => {
  await studio.checkin('boss');
  await studio.checkin('qa');
  await laptop.receive(studio);
  ids = [];
  for (const to_agent of [undefined, 'boss', 'qa']) {
    const agent = to_agent === undefined ? {} : { to_agent };
    ids.push((await laptop.api.send({ to: 'studio', msg_type: 'note', ...agent }, laptop.call())).id);
  }
  await studio.receive(laptop);
});

const ack = (message_ids: unknown, extra: object = {}, allowUlids = false): Promise<AckResult> =>
  studio.api.ack({ agent_id: 'boss', message_ids, confirm: true, ...extra }, { ...studio.call(), allowUlids });

test('one call is one commit that names every message and the commit that was read', async () => {
  const before = (await studio.subjects()).length;
  expect(await ack([1, 2])).toEqual({ preview: false, acked: [1, 2], already_acked: [], unknown: [] });
  const subjects = await studio.subjects();
  expect(subjects.slice(before)).toEqual(['ack boss read 2 messages from laptop']);
  const read = await studio.git('log', '-1', '--format=%(trailers:key=Mesh-Read,valueonly)', studio.store.branch);
  expect(read.trim()).toBe(`laptop@${await laptop.tip()}`);
  const named = await studio.git('log', '-1', '--format=%(trailers:key=Mesh-Message,valueonly)', studio.store.branch);
  expect(named.split('\n').filter((line) => line !== '')).toEqual(ids.slice(0, 2));
  const file = await studio.git('show', `${studio.store.branch}:acks/laptop/${ids[1] ?? ''}.yaml`);
  expect(file).toMatch(/boss/);
});

test('a second acknowledgement changes nothing and says so', async () => {
  await ack([1]);
  const before = await studio.tip();
  expect(await ack([1])).toEqual({ preview: false, acked: [], already_acked: [1], unknown: [] });
  expect(await studio.tip()).toBe(before);
  expect(await ack([1, 2])).toEqual({ preview: false, acked: [2], already_acked: [1], unknown: [] });
});

test('known and unknown are told apart, and another agent’s message is unknown', async () => {
  expect(await ack([2, 3, 77])).toEqual({ preview: false, acked: [2], already_acked: [], unknown: [3, 77] });
  const before = await studio.tip();
  await expect(ack([3, 77])).rejects.toMatchObject({
    errorName: 'unknown_message',
    code: 404,
    data: { unknown: [3, 77] },
  });
  expect(await studio.tip()).toBe(before);
});

test('a message that this machine sent to another is unknown to its own agents', async () => {
  const { message_id: n } = await studio.api.send({ to: 'laptop', msg_type: 'note' }, studio.call());
  await expect(ack([n])).rejects.toMatchObject({ errorName: 'unknown_message' });
});

test('ULIDs are taken only where they are allowed', async () => {
  await expect(ack([ids[0]])).rejects.toMatchObject({ errorName: 'invalid_argument' });
  expect(await ack([ids[0], 1], {}, true)).toEqual({ preview: false, acked: [1], already_acked: [], unknown: [] });
});

test('all acknowledges the inbox and nothing else', async () => {
  await expect(studio.api.ack({ agent_id: 'boss', all: true, confirm: true }, studio.call())).rejects.toMatchObject({
    errorName: 'unknown_argument',
  });
  const call = { ...studio.call(), allowUlids: true };
  expect(await studio.api.ack({ agent_id: 'boss', all: true, confirm: true }, call)).toEqual({
    preview: false,
    acked: [1, 2],
    already_acked: [],
    unknown: [],
  });
  const before = await studio.tip();
  expect(await studio.api.ack({ agent_id: 'boss', all: true, confirm: true }, call)).toMatchObject({ acked: [] });
  expect(await studio.tip()).toBe(before);
  await expect(studio.api.ack({ agent_id: 'nobody', all: true, confirm: true }, call)).rejects.toMatchObject({
    errorName: 'not_checked_in',
  });
});

test('a preview says what would be acknowledged and does nothing', async () => {
  const before = await studio.tip();
  mesh.clock.advance(1000);
  expect(await ack([1, 3], { confirm: false })).toMatchObject({ preview: true, would_ack: [1], unknown: [3] });
  expect(await studio.tip()).toBe(before);
  const { agents } = await studio.api.agents({}, studio.call());
  expect(agents.map((agent) => agent.last_activity_at)).toEqual(Array(2).fill('2026-12-02T10:00:00.000Z'));
});

test('each agent’s acknowledgement stands beside the others’, and their sender sees them all', async () => {
  await ack([1]);
  mesh.clock.advance(1000);
  await studio.api.ack({ agent_id: 'QA', message_ids: [1], confirm: true }, studio.call());
  await laptop.receive(studio);
  const [, , first] = (await laptop.api.sent({}, laptop.call())).messages;
  expect(first?.acks).toEqual([
    { machine: 'studio', agent: 'boss', at: '2026-12-02T10:00:00.000Z' },
    { machine: 'studio', agent: 'qa', at: '2026-12-02T10:00:01.000Z' },
  ]);
  expect(first?.state).toBe('acked');
});

test('an acknowledgement that was pruned with its message is not made again, but by another agent it is', async () => {
  const day = 86_400_000;
  await ack([1]);
  mesh.clock.advance(8 * day);
  await laptop.receive(studio);
  await housekeeping(laptop.ctx);
  await studio.receive(laptop);
  await housekeeping(studio.ctx);
  expect((await studio.subjects()).at(-1)).toMatch(/^prune .*1 ack/);
  // What a clock commits that fell back meanwhile hides nothing that lies before it in the history.
  mesh.clock.advance(-100 * day);
  await studio.checkin('lost');
  mesh.clock.advance(100 * day);
  await studio.checkin('boss');
  await studio.checkin('qa');
  const before = await studio.tip();
  expect(await ack([1])).toEqual({ preview: false, acked: [], already_acked: [1], unknown: [] });
  expect(await ack([1], { confirm: false })).toMatchObject({ would_ack: [], already_acked: [1] });
  expect(await studio.tip()).toBe(before);
  expect(await ack([1], { agent_id: 'qa' })).toMatchObject({ acked: [1], already_acked: [] });
});
