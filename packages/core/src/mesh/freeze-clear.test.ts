import { beforeEach, expect, test } from 'vitest';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

beforeEach(async () => {
  // Somebody reads everywhere, so that nothing else warns.
  await studio.checkin('boss');
  await laptop.checkin('qa');
  await mesh.exchange();
});

const say = async (from: TestMachine, msg_type: string, extra: object = {}): Promise<{ id: string; n: number }> => {
  mesh.clock.advance(1);
  const { id, message_id: n } = await from.api.send({ to: '*', msg_type, ...extra }, from.call());
  return { id, n };
};
const warning = async (from: TestMachine, extra: object): Promise<string | undefined> => {
  mesh.clock.advance(1);
  const input = { to: '*', msg_type: 'freeze-clear', ...extra };
  return (await from.api.send(input, from.call())).warning;
};
const nothing = expect.stringMatching(/^No freeze in force here matches; .*agents_list/) as string;

test('a clear of nothing is sent with a warning', async () => {
  expect(await warning(studio, { payload: { repo: 'shop' } })).toEqual(nothing);
  expect(await warning(studio, { in_reply_to: '01KBEST0000000000000000001' })).toEqual(nothing);
  expect((await studio.subjects()).filter((subject) => subject.startsWith('send freeze-clear')).length).toBe(2);
});

test('a clear warns of another repo, and of a freeze without one that it does not name', async () => {
  const { n } = await say(studio, 'freeze', { payload: { repo: 'shop' } });
  await say(studio, 'freeze');
  expect(await warning(studio, { payload: { repo: 'other' } })).toEqual(nothing);
  expect(await warning(studio, { payload: { repo: 'shop' } })).toBeUndefined();
  expect(await warning(studio, { payload: { repo: 'shop' } })).toEqual(nothing);
  expect(await warning(studio, { in_reply_to: n })).toEqual(nothing);
  expect(await warning(studio, { in_reply_to: n + 1 })).toBeUndefined();
});

test('a clear of what another machine froze gives no warning until the freeze is over', async () => {
  const { id } = await say(laptop, 'freeze', { ttl_seconds: 60 });
  await studio.receive(laptop);
  expect(await warning(studio, { to: 'studio', in_reply_to: id })).toBeUndefined();
  mesh.clock.advance(60_000);
  expect(await warning(studio, { in_reply_to: id })).toEqual(nothing);
});

test('a clear counts where it goes: a freeze that holds there, not one that holds elsewhere', async () => {
  const there = await say(studio, 'freeze', { to: 'laptop' });
  expect(await warning(studio, { to: 'studio', in_reply_to: there.n })).toEqual(nothing);
  expect(await warning(studio, { to: 'laptop', in_reply_to: there.n })).toBeUndefined();
  expect(await warning(studio, { to: 'laptop', in_reply_to: there.n })).toMatch(/^No freeze in force on laptop/);
  const again = await say(studio, 'freeze', { to: 'laptop' });
  expect(await warning(studio, { in_reply_to: again.n })).toBeUndefined();
});

test('only a clear is warned of', async () => {
  const note = { to: '*', msg_type: 'note', in_reply_to: '01KBEST0000000000000000001' };
  expect((await studio.api.send(note, studio.call())).warning).toBeUndefined();
});
