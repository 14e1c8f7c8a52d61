import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import { sentByCommits, sentByFiles, startSender, wholeInbox } from './senders.js';

test('four processes that send into one store at once lose nothing and double nothing', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'sink']);
  const senders = ['a', 'b', 'c', 'd'].map((label) => startSender(machine, label, 40));
  const ends = await Promise.all(senders.map((sender) => sender.ended));
  expect(ends, senders.map((sender) => sender.stderr()).join('')).toEqual(Array(4).fill({ code: 0, signal: null }));
  const ids = senders.flatMap((sender) => sender.ids).sort();
  expect(ids).toHaveLength(160);
  expect(sentByCommits(machine).sort()).toEqual(ids);
  expect(sentByFiles(machine).sort()).toEqual(ids);
  const inbox = await wholeInbox(machine, 'sink');
  expect(inbox.map((message) => message.id).sort()).toEqual(ids);
  expect(new Set(inbox.map((message) => message.message_id)).size).toBe(160);
  machine.git(['fsck', '--strict']);
  // One parent each, counted without a gap.
  const branch = `refs/heads/mesh/${machine.handle}`;
  const format = '--format=%P|%(trailers:key=Mesh-Seq,valueonly,separator=)';
  const commits = machine.git(['log', '--reverse', format, branch]).split('\n');
  expect(commits.map((line) => Number(line.split('|')[1]))).toEqual(commits.map((_, index) => index + 1));
  expect(commits.filter((line) => /\s/.test(line.split('|')[0] ?? ''))).toEqual([]);
});

test('servers and commands that write and sync at once all get through', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await laptop.json(['sync']);
  const sessions = await Promise.all([studio.mcp(), studio.mcp()]);
  await Promise.all(sessions.map((session, index) => session.checkin(`agent-${index}`)));
  const sends: Promise<{ id: string }>[] = [];
  for (let n = 0; n < 10; n++) {
    for (const session of sessions) sends.push(session.send('laptop', { payload: { n } }));
  }
  const commands = Promise.all([
    studio.json(['send', 'laptop', 'note', '--message', 'from a command']),
    studio.json(['sync']),
    studio.json(['agents']),
  ]);
  const sent = [...(await Promise.all(sends)), (await commands)[0]].map((result) => result.id).sort();
  await studio.json(['sync']);
  await laptop.json(['sync']);
  expect((await wholeInbox(laptop, 'qa')).map((message) => message.id).sort()).toEqual(sent);
  studio.git(['fsck', '--strict']);
});
