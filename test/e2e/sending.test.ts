import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import { until } from '../until.js';

test('the same key from the same agent sends once', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  await session.checkin('qa');
  const first = await session.send('solo', { from_agent: 'boss', key: 'build-7', payload: { n: 1 } });
  expect(first.duplicate).toBeUndefined();
  const before = machine.commits();
  const repeated = await session.send('solo', { from_agent: 'boss', key: 'build-7', payload: { n: 2 } });
  expect(repeated).toMatchObject({ id: first.id, message_id: first.message_id, duplicate: true });
  expect(machine.commits()).toBe(before);
  const other = await session.send('solo', { from_agent: 'qa', key: 'build-7', payload: { n: 3 } });
  expect(other.id).not.toBe(first.id);
  const fromCommand = await machine.json(['send', 'solo', 'note', '--from', 'boss', '--key', 'build-7']);
  expect(fromCommand).toMatchObject({ id: first.id, duplicate: true });
  const { messages } = await session.call('agent_inbox', { agent_id: 'qa' });
  expect(messages.map((message) => message.payload)).toEqual([{ n: 1 }, { n: 3 }]);
});

test('two processes that send with one key at the same moment send once', async () => {
  const machine = await solo();
  const [one, other] = await Promise.all([machine.mcp(), machine.mcp()]);
  await one.checkin('boss');
  for (let round = 0; round < 5; round++) {
    const key = `race-${round}`;
    const results = await Promise.all([one, other].map((session) => session.send('solo', { from_agent: 'boss', key })));
    expect(new Set(results.map((result) => result.id)).size).toBe(1);
    expect(results.filter((result) => result.duplicate === true)).toHaveLength(1);
  }
});

test('the sender is the connection’s only agent, or none; one that is not checked in is warned about', async () => {
  const session = await (await solo()).mcp();
  await session.send('solo', { payload: { n: 0 } });
  await session.checkin('boss');
  await session.send('solo', { payload: { n: 1 } });
  await session.checkin('qa');
  await session.send('solo', { payload: { n: 2 } });
  const stranger = await session.send('solo', { from_agent: 'stranger', payload: { n: 3 } });
  expect(stranger.warning).toMatch(/stranger/);
  const { messages } = await session.call('agent_sent');
  expect(messages.map((message) => [message.payload['n'], message.from_agent])).toEqual([
    [3, 'stranger'],
    [2, null],
    [1, 'boss'],
    [0, null],
  ]);
});

test('a message goes from queued to pushed to delivered to acked', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  const reply = await studio.json(['send', 'laptop', 'handoff', '--to-agent', 'qa', '--from', 'boss']);
  expect(['queued', 'pushed']).toContain(reply.state);
  await studio.json(['sync']);
  const told = async () => (await studio.json(['sent'])).messages[0];
  expect(await told()).toMatchObject({ state: 'pushed', delivered_at: null, delivered_to: [], acks: [] });
  await laptop.json(['sync']);
  await studio.json(['sync']);
  expect(await told()).toMatchObject({ state: 'delivered', delivered_to: [{ machine: 'laptop' }], acks: [] });
  await laptop.json(['ack', 'qa', '--all']);
  await laptop.json(['sync']);
  await studio.json(['sync']);
  expect(await told()).toMatchObject({ state: 'acked', acks: [{ machine: 'laptop', agent: 'qa' }] });
});

test('a message to one’s own machine is delivered at once', async () => {
  const session = await (await solo()).mcp();
  await session.checkin('boss');
  const sent = await session.send('solo', { from_agent: 'boss' });
  expect(sent.state).toBe('delivered');
  expect((await session.call('agent_sent')).messages[0]).toMatchObject({ state: 'delivered' });
});

test('a reply names the message it answers by its ULID, whichever way it was given', async () => {
  const session = await (await solo()).mcp();
  await session.checkin('boss');
  await session.checkin('qa');
  const question = await session.send('solo', { to_agent: 'qa', from_agent: 'boss' });
  await session.send('solo', { to_agent: 'boss', from_agent: 'qa', in_reply_to: question.message_id });
  await session.send('solo', { to_agent: 'boss', from_agent: 'qa', in_reply_to: question.id });
  const { messages } = await session.call('agent_inbox', { agent_id: 'boss' });
  expect(messages.map((message) => message.in_reply_to)).toEqual([question.id, question.id]);
});

test('a sender that does not know an agent yet fetches before it refuses', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['sync']);
  await laptop.json(['checkin', 'qa']);
  await laptop.json(['sync']);
  const sent = await studio.json(['send', 'laptop', 'note', '--to-agent', 'qa', '--message', 'found you']);
  expect(sent.recipients).toEqual(['qa']);
});

test('agents_list shows stale records only when asked', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const session = await machines[0].mcp();
  await session.checkin('boss');
  await machines[1].json(['checkin', 'qa']);
  await until(async () => (await session.call('agents_list')).agents.length === 2, { what: 'both are listed' });
  await machines[1].json(['checkout', 'qa']);
  await machines[1].json(['sync']);
  await until(async () => (await session.call('agents_list')).agents.length === 1, { what: 'one has left' });
  const list = await session.call('agents_list', { agent_id: 'boss', include_stale: true });
  expect(list.machine).toBe('studio');
  expect(list.machines.map((machine) => machine.handle).sort()).toEqual(['laptop', 'studio']);
  expect(list.sync).toMatchObject({ state: 'ok', error: null });
});
