import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';
import { until } from '../until.js';

interface Line {
  studio: Machine;
  desk: Machine;
  laptop: Machine;
  hub1: string;
  hub2: string;
}

/** studio – hub1 – desk – hub2 – laptop */
async function line(): Promise<Line> {
  const root = scratch();
  const [hub1, hub2] = [bareRemote(root, 'hub1.git'), bareRemote(root, 'hub2.git')];
  const [studio, desk, laptop] = ['studio', 'desk', 'laptop'].map((handle) => new Machine(root, handle));
  if (studio === undefined || desk === undefined || laptop === undefined) throw new Error('three were made');
  await studio.json(['init', '--remote', hub1, '--machine', 'studio']);
  await desk.json(['join', hub1, '--machine', 'desk']);
  const added = await desk.json(['remote', 'add', 'second', hub2]);
  expect(added).toMatchObject({ name: 'second', found: 'empty', writable: true });
  await laptop.json(['join', hub2, '--machine', 'laptop']);
  await laptop.json(['checkin', 'dev']);
  await studio.json(['checkin', 'boss']);
  // From here on each knows the others.
  await desk.json(['sync']);
  return { studio, desk, laptop, hub1, hub2 };
}

test('three machines in a line: each `sync` of the one in the middle carries both ways', async () => {
  const { studio, desk, laptop, hub1, hub2 } = await line();
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'through desk']);
  expect(await desk.json(['sync'])).toMatchObject({ state: 'ok', queued: 0 });
  const { messages } = await laptop.json(['inbox', 'dev']);
  expect(messages).toMatchObject([
    { from: { machine: 'studio', agent: 'boss' }, payload: { message: 'through desk' } },
  ]);
  await laptop.json(['ack', 'dev', '--all']);
  await desk.json(['sync']);
  await studio.json(['sync']);
  expect((await studio.json(['sent'])).messages[0]).toMatchObject({
    state: 'acked',
    delivered_to: [{ machine: 'laptop' }],
    acks: [{ machine: 'laptop', agent: 'dev' }],
  });
  for (const hub of [hub1, hub2]) stockGit(['--git-dir', hub, 'fsck', '--strict']);

  // The one in the middle leaves a hub: nothing goes over any more.
  expect(await desk.json(['remote', 'remove', 'second'])).toMatchObject({ name: 'second' });
  expect((await desk.json(['remote', 'list'])).remotes.map(({ name }) => name)).toEqual(['origin']);
  expect(await desk.refused(['remote', 'remove', 'second'])).toMatchObject({ name: 'not_found', exitCode: 3 });
  expect(await desk.refused(['remote', 'add', 'origin', hub2])).toMatchObject({ name: 'conflict', exitCode: 4 });
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'held up']);
  await desk.json(['sync']);
  expect((await laptop.json(['inbox', 'dev'])).messages).toEqual([]);
});

// A worker lets the owner go first for up to 30 s each way.
test('three machines in a line: the worker in the middle carries by itself', { timeout: 180_000 }, async () => {
  const { studio, desk, laptop } = await line();
  desk.spawn(['sync', '--watch']);
  await until(async () => (await desk.json(['status'])).worker !== null, { what: 'a worker runs on desk' });
  const [boss, dev] = await Promise.all([studio.mcp(), laptop.mcp()]);
  await boss.send('laptop', { from_agent: 'boss', payload: { text: 'through desk' } });
  const message = await until(async () => (await dev.call('agent_inbox', { agent_id: 'dev' })).messages[0], {
    within: 60_000,
    what: 'the message reaches laptop',
  });
  expect(message).toMatchObject({ from: { machine: 'studio', agent: 'boss' }, payload: { text: 'through desk' } });
  await dev.ack('dev', [message.message_id]);
  const told = await until(
    async () => (await boss.call('agent_sent')).messages.find(({ state }) => state === 'acked'),
    { within: 60_000, what: 'the sender sees the acknowledgement' },
  );
  expect(told).toMatchObject({ acks: [{ machine: 'laptop', agent: 'dev' }], delivered_to: [{ machine: 'laptop' }] });
});

test('one of two remotes that is gone is named, and keeps nothing from the other', async () => {
  const { studio, desk, hub2 } = await line();
  rmSync(hub2, { recursive: true });
  await desk.json(['checkin', 'qa']);
  await studio.json(['send', 'desk', 'note', '--from', 'boss', '--message', 'past the broken one']);
  const sync = await desk.run(['sync', '--json']);
  expect(sync.code).toBe(5);
  expect(JSON.parse(sync.stdout)).toMatchObject({ state: 'partial', error: { name: 'remote_not_found' } });
  expect((await desk.json(['inbox', 'qa'])).messages.map(({ payload }) => payload)).toEqual([
    { message: 'past the broken one' },
  ]);
  await studio.json(['sync']);
  expect((await studio.json(['sent'])).messages[0]).toMatchObject({ state: 'delivered' });
  const { remotes } = await desk.json(['remote', 'list']);
  expect(remotes).toMatchObject([
    { name: 'origin', state: 'ok', queued: 0 },
    { name: 'second', state: 'error', error: { name: 'remote_not_found' } },
  ]);
});
