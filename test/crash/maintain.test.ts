import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { openMesh } from '@git-mesh/sync';
import { expect, test } from 'vitest';
import { solo } from '../machines.js';
import { stockGit } from '../stock-git.js';
import { sentByCommits, startSender } from './senders.js';

/** Every object of stock git's own making, as it would be an hour later. */
function ageLoose(store: string): void {
  const objects = join(store, 'objects');
  const then = new Date(Date.now() - 3_600_000);
  for (const folder of readdirSync(objects).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of readdirSync(join(objects, folder))) utimesSync(join(objects, folder, name), then, then);
  }
}

test('maintenance beside a writer and readers in other processes fails no read and loses nothing', async () => {
  const machine = await solo();
  const store = machine.store;
  const loose: string[] = [];
  const reader = await openMesh({ dir: store, env: machine.env, logger: silentLogger });
  const sender = startSender(machine, 'writer', 40);
  const ended = { yet: false };
  const end = sender.ended.then((how) => {
    ended.yet = true;
    return how;
  });
  let runs = 0;
  // One more when all is sent.
  for (let last = false; !last; runs++) {
    last = ended.yet;
    for (let n = 0; n < 3; n++) {
      loose.push(stockGit(['--git-dir', store, 'hash-object', '-w', '--stdin'], { input: `loose ${runs} ${n}` }));
    }
    ageLoose(store);
    const maintained = machine.json(['maintain']);
    const subjects: string[] = [];
    for await (const { subject } of reader.api.log({})) subjects.push(subject);
    expect(subjects.length).toBeGreaterThan(0);
    expect(stockGit(['--git-dir', store, 'rev-list', '--objects', '--all', '--quiet'])).toBe('');
    await maintained;
  }
  expect(await end, sender.stderr()).toEqual({ code: 0, signal: null });
  await reader.close();
  expect(sentByCommits(machine).sort()).toEqual([...sender.ids].sort());
  const types = stockGit(['--git-dir', store, 'cat-file', '--batch-check=%(objecttype)'], { input: loose.join('\n') });
  expect(types.split('\n')).toEqual(loose.map(() => 'blob'));
  const packs = readdirSync(join(store, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  expect(packs).toHaveLength(1);
  machine.git(['fsck', '--strict', '--no-dangling']);
  expect(runs).toBeGreaterThan(1);
});
