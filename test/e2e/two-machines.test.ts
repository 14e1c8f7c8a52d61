import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine, mesh } from '../machines.js';
import { stockGit } from '../stock-git.js';
import { until } from '../until.js';

test('two agents on two machines find each other, one freezes merges, the other reads and acknowledges', async () => {
  const { machines, remote, root } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = await Promise.all(machines.map((machine) => machine.mcp()));
  if (studio === undefined || laptop === undefined) throw new Error('two machines give two sessions');
  await studio.checkin('Release', { role: 'release', repo: 'shop', status: 'cutting 2.1', caps: ['merge', 'deploy'] });
  await laptop.checkin('qa', { role: 'reviewer', repo: 'shop' });
  const qa = await until(
    async () => (await studio.call('agents_list')).agents.find((agent) => agent.machine === 'laptop'),
    { what: 'studio sees the agent on laptop' },
  );
  expect(qa).toMatchObject({ agent_id: 'qa', role: 'reviewer', repo: 'shop', caps: [], status: null, alive: true });
  const seen = await until(
    async () => (await laptop.call('agents_list')).agents.find((agent) => agent.machine === 'studio'),
    { what: 'laptop sees the agent on studio' },
  );
  expect(seen).toMatchObject({ agent_id: 'Release', status: 'cutting 2.1', caps: ['merge', 'deploy'] });

  const payload = { reason: 'release 2.1', repo: 'shop', n: 1e21, s: 'no', deep: { list: [1, null, true, '---', ''] } };
  const sent = await studio.send('laptop', { msg_type: 'freeze', from_agent: 'release', payload });
  expect(sent).toMatchObject({ to: 'laptop', to_agent: null, recipients: ['qa'], msg_type: 'freeze' });
  const message = await until(async () => (await laptop.call('agent_inbox', { agent_id: 'qa' })).messages[0], {
    what: 'the freeze reaches laptop',
  });
  expect(message).toMatchObject({
    id: sent.id,
    msg_type: 'freeze',
    from: { machine: 'studio', agent: 'Release' },
    payload,
    directed: false,
    in_reply_to: null,
  });

  const state = async (): Promise<string | undefined> => (await studio.call('agent_sent')).messages[0]?.state;
  await until(async () => (await state()) === 'delivered', { what: 'the sender sees the delivery' });
  await laptop.ack('qa', [message.message_id]);
  expect((await laptop.call('agent_inbox', { agent_id: 'qa' })).messages).toEqual([]);
  await until(async () => (await state()) === 'acked', { what: 'the sender sees the acknowledgement' });
  const [told] = (await studio.call('agent_sent')).messages;
  expect(told?.acks).toMatchObject([{ machine: 'laptop', agent: 'qa' }]);
  expect(told?.delivered_to).toMatchObject([{ machine: 'laptop' }]);
  expect(told?.pushed_at).not.toBeNull();

  const clone = join(root, 'audit');
  stockGit(['clone', '-q', remote, clone]);
  stockGit(['fsck', '--strict'], { cwd: clone });
  const log = stockGit(['log', '--all', '--format=%an <%ae>|%cn|%(trailers:key=Mesh-Event,valueonly)'], { cwd: clone });
  expect(log).toContain('Release <Release@studio.mesh.invalid>|studio|send');
  expect(log).toContain('qa <qa@laptop.mesh.invalid>|laptop|ack');
  expect(log).not.toMatch(/\bPane\b|\/tmp\//);
});

test('messages from both sides at once all arrive, each once and in the order of each sender', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = await Promise.all([machines[0].mcp(), machines[1].mcp()]);
  await studio.checkin('boss');
  await laptop.checkin('qa');
  const texts = Array.from({ length: 12 }, (_, n) => `message ${n}`);
  await Promise.all([
    (async () => {
      for (const text of texts) await studio.send('laptop', { from_agent: 'boss', payload: { text } });
    })(),
    (async () => {
      for (const text of texts) await laptop.send('studio', { from_agent: 'qa', payload: { text } });
    })(),
  ]);
  for (const [session, agent] of [
    [laptop, 'qa'],
    [studio, 'boss'],
  ] as const) {
    const messages = await until(
      async () => {
        const inbox = await session.call('agent_inbox', { agent_id: agent, limit: 100 });
        return inbox.messages.length >= texts.length ? inbox.messages : null;
      },
      { what: `all messages reach ${agent}` },
    );
    expect(messages.map((message) => message.payload['text'])).toEqual(texts);
    const numbers = messages.map((message) => message.message_id);
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
  }
});

test('a broadcast reaches every machine, one that joined later too, and its sender only when asked of it', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  const late = new Machine(studio.root, 'late');
  await late.json(['join', remote, '--machine', 'late']);
  await late.json(['checkin', 'dev']);
  const sent = await studio.json(['send', '*', 'note', '--from', 'boss', '--message', 'to everyone']);
  expect(sent.to).toBe('*');
  for (const [machine, agent] of [
    [laptop, 'qa'],
    [late, 'dev'],
  ] as const) {
    await machine.json(['sync']);
    const inbox = await machine.json(['inbox', agent]);
    expect(inbox.messages.map((message) => message.payload)).toEqual([{ message: 'to everyone' }]);
  }
  await studio.json(['sync']);
  const [told] = (await studio.json(['sent'])).messages;
  expect(told?.state).toBe('delivered');
  expect(told?.delivered_to.map((delivery) => delivery.machine).sort()).toEqual(['laptop', 'late']);
});
