import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';

test('without confirm a check-in, an acknowledgement and a check-out say what they would do and do nothing', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  const refs = (): string => machine.git(['for-each-ref']);
  const untouched = refs();

  const checkin = await session.call('agent_checkin', { agent_id: 'boss', role: 'ping', status: 'here' });
  expect(checkin).toMatchObject({ preview: true, record: { agent_id: 'boss', role: 'ping', ttl_seconds: 900 } });
  expect(checkin).toHaveProperty('next', expect.stringContaining('confirm'));
  expect(refs()).toBe(untouched);
  expect((await session.call('agents_list')).agents).toEqual([]);

  await session.checkin('boss', { status: 'here' });
  await session.checkin('qa');
  const { message_id } = await session.send('solo', { to_agent: 'qa', from_agent: 'boss' });
  const checkedIn = refs();
  const ack = await session.call('agent_ack', { agent_id: 'qa', message_ids: [message_id, 900] });
  expect(ack).toMatchObject({ preview: true, would_ack: [message_id], already_acked: [], unknown: [900] });
  expect((await session.call('agent_inbox', { agent_id: 'qa' })).messages).toHaveLength(1);

  const change = await session.call('agent_checkin', { agent_id: 'boss', status: 'gone for lunch' });
  expect(change).toMatchObject({ preview: true, record: { status: 'gone for lunch' } });
  const checkout = await session.call('agent_checkout', { agent_id: 'boss' });
  expect(checkout).toMatchObject({ preview: true, agent_id: 'boss', machine: 'solo' });
  expect(refs()).toBe(checkedIn);
  const boss = (await session.call('agents_list')).agents.find((agent) => agent.agent_id === 'boss');
  expect(boss).toMatchObject({ status: 'here', alive: true });
});

test('an acknowledgement takes a message out of one inbox only, may be repeated, and is one commit', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  for (const agent of ['boss', 'qa', 'dev']) await session.checkin(agent);
  const sent = [];
  for (let n = 0; n < 3; n++) sent.push((await session.send('solo', { from_agent: 'boss' })).message_id);
  const before = machine.commits();
  const [first = 0, second = 0, third = 0] = sent;
  expect(await session.call('agent_ack', { agent_id: 'qa', message_ids: [first, second], confirm: true })).toEqual({
    preview: false,
    acked: [first, second],
    already_acked: [],
    unknown: [],
  });
  expect(machine.commits() - before, 'commits of one call').toBe(1);
  expect(await session.call('agent_ack', { agent_id: 'qa', message_ids: [first, third, 900], confirm: true })).toEqual({
    preview: false,
    acked: [third],
    already_acked: [first],
    unknown: [900],
  });
  const again = machine.commits();
  await session.call('agent_ack', { agent_id: 'QA', message_ids: [first], confirm: true });
  expect(machine.commits(), 'commits of a repeated acknowledgement').toBe(again);
  expect((await session.call('agent_inbox', { agent_id: 'qa' })).messages).toEqual([]);
  expect((await session.call('agent_inbox', { agent_id: 'dev' })).messages).toHaveLength(3);
});

test('the command line acts at once, and previews with --dry-run', async () => {
  const machine = await solo();
  expect(await machine.json(['checkin', 'boss', '--dry-run'])).toMatchObject({ preview: true });
  expect((await machine.json(['agents'])).agents).toEqual([]);
  expect(await machine.json(['checkin', 'boss'])).toMatchObject({ preview: false, renewed: false });
  const { id } = await machine.json(['send', 'solo', 'note', '--message', 'hello']);
  expect(await machine.json(['ack', 'boss', id, '--dry-run'])).toMatchObject({ preview: true });
  expect(await machine.json(['ack', 'boss', '--all'])).toMatchObject({ preview: false, unknown: [] });
  expect((await machine.json(['inbox', 'boss'])).messages).toEqual([]);
  expect(await machine.json(['checkout', 'boss', '--dry-run'])).toMatchObject({ preview: true });
  expect(await machine.json(['checkout', 'boss'])).toMatchObject({ preview: false });
  expect((await machine.json(['agents'])).agents).toEqual([]);
});

test('the command line prints the object that the tool gives', async () => {
  const { machines } = await mesh(['studio']);
  const [studio] = machines;
  const session = await studio.mcp();
  await session.checkin('boss', { status: 'busy' });
  await session.send('studio', { from_agent: 'boss', payload: { a: [1, null] } });
  const keys = (value: object): string[] => Object.keys(value).sort();
  const inbox = await session.call('agent_inbox', { agent_id: 'boss' });
  const printed = await studio.json(['inbox', 'boss']);
  expect(keys(printed)).toEqual(keys(inbox));
  expect(printed.messages).toEqual(inbox.messages);
  expect((await studio.json(['sent'])).messages.map(keys)).toEqual(
    (await session.call('agent_sent')).messages.map(keys),
  );
  expect(keys(await studio.json(['agents']))).toEqual(keys(await session.call('agents_list')));
  expect(keys(await studio.json(['status']))).toEqual(keys(await session.call('agent_mesh_status')));
});
