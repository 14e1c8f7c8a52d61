import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { solo } from '../machines.js';
import { randomFrom } from '../random.js';
import { sentByCommits, sentByFiles, startSender, wholeInbox } from './senders.js';

const kills = 30;
const seed = Number(process.env['KILL_SEED'] ?? 20_261_202);

test(`after kill -9 of a sender at ${kills} chosen moments every send that succeeded is there once (seed ${seed})`, async () => {
  const machine = await solo();
  await machine.json(['checkin', 'sink']);
  const next = randomFrom(seed);
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
