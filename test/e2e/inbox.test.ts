import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import type { McpSession } from '../mcp-session.js';

const texts = async (session: McpSession, agent: string): Promise<unknown[]> =>
  (await session.call('agent_inbox', { agent_id: agent })).messages.map((message) => message.payload['text']);

test('an inbox begins at the check-in and survives a repeated one', async () => {
  const session = await (await solo()).mcp();
  const early = await session.send('solo', { payload: { text: 'too early' } });
  expect(early.warning).toEqual(expect.any(String));
  expect(early.recipients).toEqual([]);
  const first = await session.checkin('qa', { status: 'one', ttl_seconds: 60 });
  expect(first).toMatchObject({ renewed: false, missed: { count: 0, ids: [] } });
  expect(await texts(session, 'qa')).toEqual([]);
  await session.send('solo', { payload: { text: 'in time' } });
  const again = await session.checkin('QA', { role: 'reviewer' });
  expect(again).toMatchObject({ renewed: true, status: 'one', role: 'reviewer', ttl_seconds: 60 });
  expect(again.status_since).toBe(first.status_since);
  expect(again.checked_in_at).toBe(first.checked_in_at);
  expect(await texts(session, 'qa')).toEqual(['in time']);
});

test('after a check-out a new session starts empty and is told what it missed', async () => {
  const session = await (await solo()).mcp();
  await session.checkin('boss');
  await session.checkin('qa');
  const unread = await session.send('solo', { from_agent: 'boss', payload: { text: 'left unread' } });
  const read = await session.send('solo', { from_agent: 'boss', payload: { text: 'read' } });
  await session.ack('qa', [read.message_id]);
  await session.call('agent_checkout', { agent_id: 'qa', confirm: true });
  const refused = await session.refused('agent_inbox', { agent_id: 'qa' });
  expect([refused.code, refused.name]).toEqual([409, 'not_checked_in']);
  const directed = await session.refused('agent_send', { to: 'solo', to_agent: 'qa', msg_type: 'note' });
  expect(directed).toMatchObject({ code: 404, name: 'agent_not_alive', alive_agents: ['boss'] });
  const away = await session.send('solo', { from_agent: 'boss', payload: { text: 'while away' } });
  const back = await session.checkin('qa');
  expect(back.renewed).toBe(false);
  expect(back.missed.count).toBe(back.missed.ids.length);
  expect(back.missed.ids).toContain(away.id);
  expect(back.missed.ids).not.toContain(read.id);
  expect(await texts(session, 'qa')).toEqual([]);
  // Still there for whoever never left.
  expect(await texts(session, 'boss')).toContain('left unread');
  expect(unread.recipients).toEqual(['boss', 'qa']);
});

test('a message to one agent is seen by no other', async () => {
  const session = await (await solo()).mcp();
  for (const agent of ['boss', 'qa', 'dev']) await session.checkin(agent);
  const sent = await session.send('solo', { to_agent: 'QA', from_agent: 'boss', payload: { text: 'for qa' } });
  expect(sent).toMatchObject({ recipients: ['qa'] });
  const { messages } = await session.call('agent_inbox', { agent_id: 'qa' });
  expect(messages).toMatchObject([{ directed: true, from: { machine: 'solo', agent: 'boss' } }]);
  expect(await texts(session, 'dev')).toEqual([]);
});

test('pages go on after the last message and say how many remain', async () => {
  const session = await (await solo()).mcp();
  await session.checkin('qa');
  const sent = [];
  for (let n = 0; n < 7; n++) sent.push((await session.send('solo')).message_id);
  const seen: number[] = [];
  for (const remaining of [4, 1, 0]) {
    const after = seen.at(-1);
    const page = await session.call('agent_inbox', {
      agent_id: 'qa',
      limit: 3,
      ...(after === undefined ? {} : { after }),
    });
    expect(page.remaining).toBe(remaining);
    seen.push(...page.messages.map((message) => message.message_id));
  }
  expect(seen).toEqual(sent);
  expect((await session.call('agent_inbox', { agent_id: 'qa' })).notice).toMatch(/instruction/i);
});

test('a page stays under 24 KiB, unless one message alone is longer', async () => {
  const session = await (await solo()).mcp();
  await session.checkin('qa');
  const sizes = [9000, 9000, 9000, 16_300, 100];
  for (const size of sizes) await session.send('solo', { payload: { s: 'x'.repeat(size) } });
  const pages: number[] = [];
  let after: number | undefined;
  for (;;) {
    const page = await session.call('agent_inbox', { agent_id: 'qa', ...(after === undefined ? {} : { after }) });
    if (page.messages.length === 0) break;
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(24 * 1024);
    pages.push(
      ...page.messages.map((message) => (typeof message.payload['s'] === 'string' ? message.payload['s'].length : -1)),
    );
    after = page.messages.at(-1)?.message_id;
    expect(page.remaining).toBe(sizes.length - pages.length);
    if (page.remaining === 0) break;
  }
  expect(pages).toEqual(sizes);
});

test('a wait ends with the first message', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = await Promise.all([machines[0].mcp(), machines[1].mcp()]);
  await studio.checkin('boss');
  await laptop.checkin('qa');
  const started = performance.now();
  const waiting = laptop.call('agent_inbox', { agent_id: 'qa', wait_seconds: 40 });
  await studio.send('laptop', { from_agent: 'boss', payload: { text: 'now' } });
  expect((await waiting).messages.map((message) => message.payload)).toEqual([{ text: 'now' }]);
  expect(performance.now() - started, 'milliseconds until the wait ended').toBeLessThan(10_000);
});

test('a wait is not ended by one’s own broadcast, and gives an empty page when its time is over', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  const started = performance.now();
  const waiting = session.call('agent_inbox', { agent_id: 'boss', wait_seconds: 2 });
  await session.send('*', { from_agent: 'boss' });
  await waiting;
  expect(performance.now() - started, 'milliseconds until the wait ended').toBeGreaterThan(1500);
  const other = await machine.run(['inbox', 'boss', '--wait', '0', '--json']);
  expect(other.code).toBe(0);
});
