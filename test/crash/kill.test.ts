import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { solo } from '../machines.js';
import { sentByCommits, sentByFiles, startSender, wholeInbox } from './senders.js';

const kills = 30;
const seed = Number(process.env['KILL_SEED'] ?? 20_261_202);

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(`after kill -9 of a sender at ${kills} chosen moments every send that succeeded is there once (seed ${seed})`, async () => {
  const machine = await solo();
  await machine.json(['checkin', 'sink']);
  const next = random(seed);
  const reported: string[] = [];
  for (let round = 0; round < kills; round++) {
    const sender = startSender(machine, `round-${round}`);
    await sender.reported(1 + Math.floor(next() * 4));
    // Not a wait for something: the moment of the kill within a send is the experiment.
    await delay(next() * 25);
    sender.process.kill('SIGKILL');
    await sender.ended;
    reported.push(...sender.ids);
  }
  expect(reported.length).toBeGreaterThan(kills);

  // The store works without repair, at once.
  const started = performance.now();
  const after = await machine.json(['send', 'solo', 'note', '--message', 'afterwards']);
  expect(performance.now() - started, 'milliseconds for the first send after the last kill').toBeLessThan(5000);
  reported.push(after.id);
  machine.git(['fsck', '--strict']);

  const inbox = (await wholeInbox(machine, 'sink')).map((message) => message.id);
  const commits = sentByCommits(machine);
  const files = sentByFiles(machine);
  for (const stored of [inbox, commits, files]) {
    expect(new Set(stored).size, 'no message twice').toBe(stored.length);
    expect(
      reported.filter((id) => !stored.includes(id)),
      'sends that succeeded and are gone',
    ).toEqual([]);
  }
  // At most the send that was cut off is there without having been reported, and then it is there in full.
  expect(commits.length - reported.length).toBeLessThanOrEqual(kills);
  expect([...inbox].sort()).toEqual([...commits].sort());
  expect([...files].sort()).toEqual([...commits].sort());
  expect(await machine.json(['doctor'])).toMatchObject({ ok: true });
}, 180_000);
