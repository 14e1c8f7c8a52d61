import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mesh } from '../machines.js';
import { until } from '../until.js';

test('without its remote a machine goes on, says so, and everything arrives later, once and in order', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  renameSync(remote, `${remote}.gone`);
  for (const text of ['one', 'two', 'three']) {
    const sent = await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', text]);
    expect(sent.state).toBe('queued');
  }
  const list = await studio.json(['agents']);
  expect(list.sync).toMatchObject({
    state: 'offline',
    error: { name: 'remote_not_found' },
  });
  expect(list.sync.queued).toBeGreaterThanOrEqual(3);
  const sync = await studio.run(['sync', '--json']);
  expect(sync.code).toBe(5);
  const status = await studio.json(['status']);
  expect(status.remotes).toMatchObject([{ state: 'error', error: { name: 'remote_not_found' } }]);

  renameSync(`${remote}.gone`, remote);
  expect(await studio.json(['sync'])).toMatchObject({ state: 'ok', queued: 0, error: null });
  await laptop.json(['sync']);
  const inbox = await laptop.json(['inbox', 'qa']);
  expect(inbox.messages.map((message) => message.payload['message'])).toEqual(['one', 'two', 'three']);
  await laptop.json(['sync']);
  expect((await laptop.json(['inbox', 'qa'])).messages).toHaveLength(3);
});

test('a resident server catches up by itself when the remote is back', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = await Promise.all([machines[0].mcp(), machines[1].mcp()]);
  await studio.checkin('boss');
  await laptop.checkin('qa');
  await until(async () => (await studio.call('agents_list')).agents.length === 2, { what: 'both are known' });
  renameSync(remote, `${remote}.gone`);
  const sent = await studio.send('laptop', { from_agent: 'boss', payload: { text: 'while away' } });
  expect(sent.state).toBe('queued');
  await until(async () => (await studio.call('agents_list')).sync.state === 'offline', { what: 'it says so' });
  renameSync(`${remote}.gone`, remote);
  const inbox = await until(
    async () => {
      const page = await laptop.call('agent_inbox', { agent_id: 'qa' });
      return page.messages.length > 0 ? page : null;
    },
    { within: 45_000, what: 'the message arrives' },
  );
  expect(inbox.messages.map((message) => message.payload)).toEqual([{ text: 'while away' }]);
});
