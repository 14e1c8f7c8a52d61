import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mesh } from '../machines.js';

test('a remote that takes no push still brings messages in, and what is refused stays queued', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  await laptop.json(['sync']);
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'to read']);
  await studio.json(['sync']);
  // The repository's own hook refuses: file modes would not hold for a superuser.
  const hook = join(remote, 'hooks', 'pre-receive');
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho "read only today" >&2\nexit 1\n');
  chmodSync(hook, 0o755);

  const sync = await laptop.run(['sync', '--json']);
  expect(sync.code).toBe(5);
  expect(JSON.parse(sync.stdout)).toMatchObject({ error: { name: 'push_refused' } });
  expect((await laptop.json(['inbox', 'qa'])).messages.map((message) => message.payload)).toEqual([
    { message: 'to read' },
  ]);
  const sent = await laptop.json(['send', 'studio', 'note', '--from', 'qa', '--message', 'to push']);
  expect(sent.state).toBe('queued');
  expect((await laptop.json(['sent'])).messages[0]).toMatchObject({ state: 'queued', pushed_at: null });

  rmSync(hook);
  expect(await laptop.json(['sync'])).toMatchObject({ state: 'ok', queued: 0 });
  await studio.json(['sync']);
  expect((await studio.json(['inbox', 'boss'])).messages.map((message) => message.payload)).toEqual([
    { message: 'to push' },
  ]);
});
