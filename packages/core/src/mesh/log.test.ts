import { expect, test } from 'vitest';
import { charterRef } from '../domain/layout.js';
import type { EventLine } from '../domain/results.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { studio, laptop } = meshForEach('studio', 'laptop');

const log = async (machine: TestMachine, input: object = {}): Promise<EventLine[]> => {
  const lines: EventLine[] = [];
  for await (const line of machine.api.log(input)) lines.push(line);
  return lines;
};

test('the log ends with the founding of the mesh, as its founder’s act', async () => {
  await laptop.checkin('qa');
  const lines = await log(laptop);
  const charter = await laptop.git('rev-parse', charterRef(laptop.store.config.ref_prefix));
  expect(lines.at(-1)).toMatchObject({ event: 'init', machine: 'studio', agent: null, commit: charter, signature: 'good' }); // prettier-ignore
  expect(lines.map(({ event }) => event).sort()).toEqual(['checkin', 'init', 'join', 'join']);
});

test('the founding is the founder’s alone, and no later than the time asked for', async () => {
  expect((await log(studio, { machine: 'laptop' })).map(({ event }) => event)).toEqual(['join']);
  expect((await log(studio, { machine: 'studio' })).map(({ event }) => event)).toEqual(['join', 'init']);
  expect(await log(studio, { since: '2026-12-03' })).toEqual([]);
  expect(await log(studio, { agent: 'qa' })).toEqual([]);
});

test('a store without a charter that can be read has a log all the same', async () => {
  await studio.git('update-ref', '-d', charterRef(studio.store.config.ref_prefix));
  expect((await log(studio)).map(({ event }) => event)).toEqual(['join', 'join']);
});

test('a commit that a wrong clock dated too early hides none that is dated rightly below it', async () => {
  await studio.checkin('boss');
  const since = new Date(studio.clock.now()).toISOString();
  studio.clock.advance(60_000);
  await studio.checkin('boss', { status: 'before the step' });
  studio.clock.advance(-3_600_000);
  await studio.checkin('boss', { status: 'an hour early' });
  const lines = await log(studio, { since, machine: 'studio' });
  expect(lines.map(({ subject }) => subject)).toContainEqual(expect.stringContaining('before the step'));
  expect(lines.every(({ at }) => at >= since)).toBe(true);
});
