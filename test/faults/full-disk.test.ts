import { expect, test } from 'vitest';
import { solo } from '../machines.js';
import { failingDisk } from './failing-disk.js';

test('a disk that fills up at any write of a send gives an error and leaves the store as it was', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'boss']);
  let refusedAt = 0;
  for (let after = 0; after < 40; after++) {
    const refs = machine.git(['for-each-ref']);
    const env = failingDisk(machine.root, { code: 'ENOSPC', after });
    const text = `after ${after} writes`;
    const ended = await machine.run(['send', 'solo', 'note', '--from', 'boss', '--message', text, '--json'], { env });
    const stored = (await machine.json(['inbox', 'boss', '--limit', '100'])).messages.filter(
      (message) => message.payload['message'] === text,
    );
    if (ended.code === 0) {
      expect(stored, text).toHaveLength(1);
      break;
    }
    refusedAt = after + 1;
    expect(JSON.parse(ended.stdout), text).toMatchObject({ error: { code: 503, name: 'disk_full' } });
    expect(ended.code, text).toBe(5);
    expect(stored, text).toEqual([]);
    expect(machine.git(['for-each-ref']), text).toBe(refs);
    machine.git(['fsck', '--strict']);
  }
  expect(refusedAt, 'writes that were made to fail').toBeGreaterThan(0);
  expect(refusedAt, 'writes until a send succeeds').toBeLessThan(40);
});

test('a store that turned read-only refuses to write by name and still answers what only reads', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'boss']);
  await machine.json(['send', 'solo', 'note', '--from', 'boss', '--message', 'before']);
  const refs = machine.git(['for-each-ref']);
  const env = failingDisk(machine.root, { code: 'EROFS', after: 0 });
  const error = await machine.refused(['send', 'solo', 'note', '--from', 'boss'], { env });
  expect(error).toMatchObject({ exitCode: 5, code: 503, name: 'read_only' });
  const inbox = await machine.json(['inbox', 'boss'], { env });
  expect(inbox.messages.map((message) => message.payload)).toEqual([{ message: 'before' }]);
  expect((await machine.json(['agents'], { env })).agents).toHaveLength(1);
  expect((await machine.json(['status'])).problems).toEqual([]);
  expect((await machine.json(['status'], { env })).problems).toMatchObject([{ kind: 'read_only' }]);
  expect(machine.git(['for-each-ref'])).toBe(refs);
});
