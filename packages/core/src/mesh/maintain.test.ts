import { expect, it } from 'vitest';
import { meshForEach } from '../testing/mesh-for-each.js';

const { studio } = meshForEach('studio');

it.each([
  ['the same process', () => Promise.resolve(studio)],
  ['another store object', () => studio.reopened()],
])('comes to its end while %s sends without a pause, and joins what was there', async (_whose, whose) => {
  const sender = await whose();
  await studio.checkin('boss');
  const ending = new AbortController();
  let sent = 0;
  const sending = (async () => {
    while (!ending.signal.aborted) {
      await sender.api.send({ to: 'studio', msg_type: 'note' }, sender.call());
      sent += 1;
    }
  })();
  const result = await studio.api.maintain().finally(() => {
    ending.abort();
  });
  await sending;
  expect(sent).toBeGreaterThan(0);
  expect(result.packs_before).toBeGreaterThan(1);
  // Its next look at the store finds all that was sent.
  expect(await studio.api.doctor()).toMatchObject({ problems: [] });
});
