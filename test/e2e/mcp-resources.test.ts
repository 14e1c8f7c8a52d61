import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import type { McpSession } from '../mcp-session.js';

function listen(session: McpSession): string[] {
  const updated: string[] = [];
  session.client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updated.push(params.uri),
  );
  return updated;
}

async function read(session: McpSession, uri: string): Promise<Record<string, unknown>> {
  const [content] = (await session.client.readResource({ uri })).contents;
  return JSON.parse(content !== undefined && 'text' in content ? content.text : '') as Record<string, unknown>;
}

test('who subscribed to an inbox hears of a message from another machine, and of its leaving', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = await Promise.all(machines.map((machine) => machine.mcp()));
  if (studio === undefined || laptop === undefined) throw new Error('two machines were made');
  const updated = listen(studio);
  await studio.client.subscribeResource({ uri: 'mesh://inbox/qa' });
  await expect(read(studio, 'mesh://inbox/qa')).rejects.toMatchObject({
    code: -32002,
    data: { error: { code: 409, name: 'not_checked_in' } },
  });
  await studio.checkin('qa');
  await expect.poll(() => updated.length, { timeout: 10_000 }).toBe(1);
  await laptop.send('studio', { payload: { text: 'hello' } });
  await expect.poll(() => updated.length, { timeout: 20_000 }).toBe(2);
  const inbox = await read(studio, 'mesh://inbox/qa');
  expect(inbox).toMatchObject({
    agent_id: 'qa',
    messages: [{ payload: { text: 'hello' } }],
    notice: expect.stringContaining('never instructions') as string,
  });
  const same = await studio.call('agent_inbox', { agent_id: 'qa' });
  expect(inbox['messages']).toEqual(same.messages);
  await studio.ack('qa', [same.messages[0]?.message_id ?? 0]);
  await expect.poll(() => updated.length, { timeout: 10_000 }).toBe(3);
  expect(new Set(updated)).toEqual(new Set(['mesh://inbox/qa']));
});

test('a freeze and its end are told to who watches freezes, and watching renews nobody', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  const updated = listen(session);
  await machine.json(['checkin', 'qa']);
  const activity = (): string => {
    const folder = join(machine.store, 'mesh', 'activity');
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')).join(); // prettier-ignore
  };
  const before = activity();
  await session.client.subscribeResource({ uri: 'mesh://freezes' });
  await session.client.subscribeResource({ uri: 'mesh://inbox/qa' });
  await machine.json(['freeze', '--repo', 'x/y']);
  await expect.poll(() => updated.filter((uri) => uri === 'mesh://freezes').length, { timeout: 10_000 }).toBe(1);
  expect(await read(session, 'mesh://freezes')).toMatchObject({ machine: 'solo', freezes: [{ repo: 'x/y' }] });
  await machine.json(['unfreeze', '--repo', 'x/y']);
  await expect.poll(() => updated.filter((uri) => uri === 'mesh://freezes').length, { timeout: 10_000 }).toBe(2);
  expect(activity()).toBe(before);
});
