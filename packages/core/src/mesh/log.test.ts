import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toIso } from '../domain/ids.js';
import { charterRef } from '../domain/layout.js';
import type { EventLine } from '../domain/results.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

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

/** Puts commits with the same tree onto studio's branch, all dated `at`. */
function commitsDated(at: number, count: number): void {
  const { dir, branch } = studio.store;
  const who = `committer studio <studio@mesh.invalid> ${Math.floor(at / 1000)} +0000`;
  const one = (n: number): string => `commit ${branch}\n${who}\ndata 1\nx\n${n === 0 ? `from ${branch}^0\n` : ''}\n`;
  const input = Array.from({ length: count }, (_, n) => one(n)).join('');
  execFileSync('git', ['--git-dir', dir, 'fast-import', '--quiet'], { input });
}

test('a clock that was set back hides nothing of what is dated since, as far as a thousand commits go', async () => {
  const { clock } = mesh;
  const send = (): Promise<unknown> => studio.api.send({ to: 'laptop', msg_type: 'note', payload: {} }, studio.call());
  const dates = async (since: string): Promise<string[]> => (await log(studio, { since })).map(({ at }) => at);
  clock.advance(3_600_000);
  const [ahead, since] = [toIso(clock.now()), toIso(clock.now() - 60_000)];
  await send();
  clock.advance(-1_800_000);
  await send();
  clock.advance(1_800_000 + 60_000);
  await send();
  expect(await dates(since)).toEqual([toIso(clock.now()), ahead]);
  commitsDated(clock.now() - 1_800_000, 999);
  expect(await dates(since)).toEqual([toIso(clock.now()), ahead]);
  commitsDated(clock.now() - 1_800_000, 1);
  expect(await dates(since)).toEqual([]);
});

test('messages that nobody acknowledged are told from the branches, whoever sent them, and one message alone', async () => {
  await studio.checkin('boss');
  await laptop.checkin('qa');
  await mesh.exchange();
  const send = async (from: TestMachine, to: string, n: number): Promise<{ id: string; message_id: number }> =>
    from.api.send({ to, msg_type: 'note', payload: { n } }, from.call());
  const read = await send(studio, 'laptop', 1);
  const unread = await send(studio, 'laptop', 2);
  const back = await send(laptop, 'studio', 3);
  await mesh.exchange();
  const here = (await laptop.api.inbox({ agent_id: 'qa' }, laptop.call())).messages.find(({ id }) => id === read.id);
  await laptop.api.ack({ agent_id: 'qa', message_ids: [here?.message_id], confirm: true }, laptop.call());
  await mesh.exchange();
  for (const machine of [studio, laptop]) {
    const ids = (await log(machine, { unacked: true })).map(({ id }) => id);
    expect([...ids].sort()).toEqual([unread.id, back.id].sort());
    expect((await log(machine, { unacked: true, machine: 'studio' })).map(({ id }) => id)).toEqual([unread.id]);
    expect((await log(machine, { message: read.id })).map(({ event }) => event)).toEqual(['ack', 'send']);
  }
  expect((await log(studio, { message: unread.message_id })).map(({ id }) => id)).toEqual([unread.id]);
  await expect(log(studio, { message: 4_711 })).rejects.toMatchObject({ errorName: 'unknown_message' });
});
