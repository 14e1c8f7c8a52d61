import { expect, test } from 'vitest';
import type { SendResult } from '../domain/results.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const send = (input: object = {}, call = studio.call()): Promise<SendResult> =>
  studio.api.send({ to: 'laptop', msg_type: 'note', ...input }, call);

const trailer = async (name: string): Promise<string> =>
  (await studio.git('log', '-1', `--format=%(trailers:key=${name},valueonly)`, studio.store.branch)).trim();

test('refusals come in order, the payload’s size first, and store nothing', async () => {
  const before = await studio.tip();
  let rounds = 0;
  studio.onRound = () => {
    rounds += 1;
    return Promise.resolve();
  };
  const big = { s: 'é'.repeat(8190) };
  const refusals: [object, string, number][] = [
    [{ payload: [], msg_type: 'nonsense', to: 'nowhere' }, 'invalid_argument', 400],
    [{ payload: big, msg_type: 'nonsense', to: 'nowhere' }, 'payload_too_large', 413],
    [{ msg_type: 'nonsense', to: '*', to_agent: 'x' }, 'invalid_argument', 400],
    [{ to: '*', to_agent: 'x', ttl_seconds: 1 }, 'invalid_argument', 400],
    [{ to: 'nowhere', ttl_seconds: 59 }, 'invalid_argument', 400],
    [{ to: 'nowhere', ttl_seconds: 2_592_001 }, 'invalid_argument', 400],
    [{ msg_type: 'freeze-clear', to: 'nowhere' }, 'invalid_argument', 400],
  ];
  for (const [input, errorName, code] of refusals) {
    await expect(send(input), JSON.stringify(input).slice(0, 80)).rejects.toMatchObject({ errorName, code });
  }
  expect(rounds).toBe(0);
  await expect(send({ to: 'nowhere', in_reply_to: 99 })).rejects.toMatchObject({
    errorName: 'machine_not_found',
    code: 404,
  });
  await expect(send({ to_agent: 'ghost', in_reply_to: 99 })).rejects.toMatchObject({
    errorName: 'agent_not_alive',
    data: { alive_agents: [] },
    message: expect.not.stringContaining('one of these') as string,
  });
  await expect(send({ in_reply_to: 99 })).rejects.toMatchObject({ errorName: 'unknown_message' });
  expect(rounds).toBe(2);
  expect(await studio.tip()).toBe(before);
});

test('the largest payload that is allowed is stored', async () => {
  expect((await send({ payload: { s: 'x'.repeat(16_384 - 8) } })).message_id).toBe(1);
  await expect(send({ payload: { s: 'x'.repeat(16_384 - 7) } })).rejects.toMatchObject({
    message: expect.stringMatching(/16,?384[\s\S]*16,?385|16,?385[\s\S]*16,?384/) as string,
  });
});

test('an agent that is not known yet is looked for before it is refused', async () => {
  await laptop.checkin('Dev');
  studio.onRound = () => studio.receive(laptop);
  const sent = await send({ to_agent: 'dev' });
  expect(sent).toMatchObject({ to: 'laptop', to_agent: 'Dev', recipients: ['Dev'], state: 'queued', message_id: 1 });
  await expect(send({ to_agent: 'ghost' })).rejects.toMatchObject({ data: { alive_agents: ['Dev'] } });
});

test('recipients are those alive now, and where none is a warning says so', async () => {
  expect((await send()).warning).toMatch(/No agent is alive on laptop/);
  expect((await send({ to: '*' })).warning).toMatch(/on any machine/);
  await laptop.checkin('a');
  await laptop.checkin('b', { ttl_seconds: 60 });
  await studio.checkin('boss');
  await studio.receive(laptop);
  expect(await send()).toMatchObject({ recipients: ['a', 'b'] });
  expect((await send({ to: '*', from_agent: 'boss' })).recipients).toEqual(['laptop/a', 'laptop/b', 'studio/boss']);
  mesh.clock.advance(60_000);
  const later = await send({ from_agent: 'boss' });
  expect(later.recipients).toEqual(['a']);
  expect(later).not.toHaveProperty('warning');
});

test('the sender is the connection’s only agent, else the one named, else the machine', async () => {
  const call = studio.call();
  await studio.checkin('Boss', {}, call);
  const { id } = await send({}, call);
  expect(await studio.git('log', '-1', '--format=%an', studio.store.branch)).toBe('Boss');
  await studio.checkin('two', {}, call);
  await send({}, call);
  expect(await studio.git('log', '-1', '--format=%an', studio.store.branch)).toBe('studio');
  const stranger = await send({ from_agent: 'stranger' });
  expect(stranger.warning).toMatch(/stranger is not checked in here/);
  expect((await send({ from_agent: 'BOSS' })).warning).not.toMatch(/not checked in/);
  const { messages } = await studio.api.sent({}, call);
  expect(messages.map(({ from_agent: agent }) => agent)).toEqual(['Boss', 'stranger', null, 'Boss']);
  expect(messages.at(-1)?.id).toBe(id);
});

test('numbers equal Mesh-Journal, and Mesh-Seq counts every commit', async () => {
  for (let n = 1; n <= 3; n++) {
    expect((await send()).message_id).toBe(n);
    expect([await trailer('Mesh-Journal'), await trailer('Mesh-Seq')]).toEqual([String(n), String(n + 1)]);
  }
  await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());
  await studio.receive(laptop);
  expect((await send()).message_id).toBe(5);
  expect(await trailer('Mesh-Journal')).toBe('5');
});

test('ids only grow while the clock steps back, and the times shown are the clock’s', async () => {
  const ids: string[] = [];
  const times: number[] = [];
  for (const step of [0, -3_600_000, 1000, -86_400_000, 90_000_000]) {
    mesh.clock.advance(step);
    ids.push((await send()).id);
    times.push(mesh.clock.now());
  }
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(5);
  const { messages } = await studio.api.sent({}, studio.call());
  expect(messages.map((message) => Date.parse(message.sent_at)).reverse()).toEqual(times);
  expect(await studio.git('fsck', '--strict', '--no-dangling')).toBe('');
});

test('in_reply_to takes a number or a ULID and is a ULID everywhere else', async () => {
  const { id, message_id: n } = await send();
  await send({ in_reply_to: n });
  await send({ in_reply_to: id });
  await send({ in_reply_to: '01K00000000000000000000000' });
  const { messages } = await studio.api.sent({}, studio.call());
  expect(messages.map((message) => message.in_reply_to)).toEqual(['01K00000000000000000000000', id, id, null]);
});

test('the same key from the same agent sends once, whatever the spelling, and gives the first', async () => {
  const first = await send({ key: 'k', from_agent: 'boss', payload: { n: 1 } });
  const before = await studio.tip();
  const again = await send({ key: 'k', from_agent: 'BOSS', payload: { n: 2 } });
  expect(again).toMatchObject({ id: first.id, message_id: first.message_id, duplicate: true });
  expect(first).not.toHaveProperty('duplicate');
  expect(await studio.tip()).toBe(before);
});

test('the same key from another agent, or once the first has expired, is a new message', async () => {
  const first = await send({ key: 'k', from_agent: 'boss', ttl_seconds: 60 });
  expect((await send({ key: 'k', from_agent: 'qa' })).id).not.toBe(first.id);
  expect((await send({ key: 'k' })).id).not.toBe(first.id);
  mesh.clock.advance(59_999);
  expect((await send({ key: 'k', from_agent: 'boss' })).id).toBe(first.id);
  mesh.clock.advance(1);
  const next = await send({ key: 'k', from_agent: 'boss' });
  expect(next.id).not.toBe(first.id);
  expect(next).not.toHaveProperty('duplicate');
});

test('a message to one’s own machine is delivered at once', async () => {
  await studio.checkin('boss');
  expect(await send({ to: 'studio' })).toMatchObject({ state: 'delivered', recipients: ['boss'] });
});
