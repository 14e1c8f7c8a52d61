import { expect, test } from 'vitest';
import type { FreezeView, SendResult } from '../domain/results.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const freezes = async (machine: TestMachine): Promise<FreezeView[]> =>
  (await machine.api.agents({}, machine.call())).freezes;
const say = async (from: TestMachine, msg_type: string, extra: object = {}): Promise<SendResult> =>
  from.api.send({ to: '*', msg_type, ...extra }, from.call());

test('a freeze holds on both machines, is shown to whoever checks in later, and ends by its clear', async () => {
  const sent = await say(studio, 'freeze', { payload: { repo: 'shop', reason: 'release' } });
  await laptop.receive(studio);
  expect(await freezes(laptop)).toEqual([
    {
      message_id: 1,
      id: sent.id,
      machine: 'studio',
      agent: null,
      repo: 'shop',
      reason: 'release',
      since: '2026-12-02T10:00:00.000Z',
      expires_at: '2026-12-03T10:00:00.000Z',
    },
  ]);
  expect((await laptop.checkin('late')).freezes.map(({ id }) => id)).toEqual([sent.id]);
  mesh.clock.advance(1);
  await say(laptop, 'freeze-clear', { payload: { repo: 'other' } });
  expect((await freezes(laptop)).length).toBe(1);
  await say(laptop, 'freeze-clear', { payload: { repo: 'shop' } });
  expect(await freezes(laptop)).toEqual([]);
  await studio.receive(laptop);
  expect(await freezes(studio)).toEqual([]);
});

test('a freeze holds only where it was sent', async () => {
  await say(studio, 'freeze', { to: 'laptop' });
  await laptop.receive(studio);
  expect([(await freezes(studio)).length, (await freezes(laptop)).length]).toEqual([0, 1]);
});

test('a freeze ends at its expiry', async () => {
  await say(studio, 'freeze', { ttl_seconds: 60 });
  mesh.clock.advance(59_999);
  expect((await freezes(studio)).length).toBe(1);
  mesh.clock.advance(1);
  expect(await freezes(studio)).toEqual([]);
});

test('a clear that names the freeze wins although it arrives first', async () => {
  const { id } = await say(studio, 'freeze');
  mesh.clock.advance(-60_000);
  await say(laptop, 'freeze-clear', { in_reply_to: id });
  await laptop.receive(studio);
  expect(await freezes(laptop)).toEqual([]);
});

test('a clear by repo ends no later freeze', async () => {
  await say(laptop, 'freeze-clear', { payload: { repo: 'shop' } });
  mesh.clock.advance(1);
  await say(studio, 'freeze', { payload: { repo: 'shop' } });
  await laptop.receive(studio);
  expect((await freezes(laptop)).length).toBe(1);
});

test('a freeze names a repository in one line that does not act where it is shown', async () => {
  for (const repo of ['a\nb', '\u001b[2J', 'a\u202eb']) {
    const refused = { errorName: 'invalid_argument', data: { argument: 'payload.repo' } };
    await expect(say(studio, 'freeze', { payload: { repo } })).rejects.toMatchObject(refused);
    await expect(say(studio, 'freeze-clear', { payload: { repo } })).rejects.toMatchObject(refused);
  }
});
