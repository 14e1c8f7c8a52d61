import { appendFile, copyFile, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Handle, Oid, Ulid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { guardedFs } from './guarded-fs.js';
import { FileJournal } from './journal.js';
import { nodeFs } from './node-fs.js';
import type { JournalEntry, MessageEntry } from './ports.js';

const storeId = '01J00000000000000000ST0RE0' as Ulid;
const at = '2026-12-02T05:00:00.000Z';
const commitId = 'a'.repeat(40) as Oid;

function message(n: number, rest: Partial<MessageEntry> = {}): MessageEntry {
  return {
    kind: 'message',
    n,
    id: `01J${String(n).padStart(23, '0')}` as Ulid,
    sender: 'studio' as Handle,
    agent: null,
    to: '*',
    to_agent: null,
    type: 'note',
    sent_at: at,
    expires_at: at,
    at,
    blob: commitId,
    path: 'messages/_all/x.yaml',
    seq: n,
    in_reply_to: null,
    repo: 'línea\u2028 "quoted"\n',
    reason: null,
    key: null,
    ...rest,
  };
}

let folder: { path: string; remove: () => Promise<void> };
let file: string;
let journal: FileJournal;
const other = (fs = nodeFs): FileJournal => new FileJournal(fs, file, storeId);
const durable = { durable: true };
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'mesh', 'journal');
  journal = other();
});
afterEach(() => folder.remove());

describe('the journal', () => {
  it('is empty before the first entry, and reading makes no file', async () => {
    expect((await journal.view()).highest).toBe(0);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('gives another process every kind of entry back as it was', async () => {
    const rest: JournalEntry[] = [
      { kind: 'cursor', sender: 'laptop' as Handle, commit: commitId, seq: 7, at },
      { kind: 'pushed', remote: 'origin', commit: commitId, seq: 3, at },
      { kind: 'receipt', machine: 'laptop' as Handle, seq: 3, at },
      { kind: 'acked', id: message(1).id, machine: 'laptop' as Handle, agent: 'b' as never, at },
    ];
    await journal.append([message(1), ...rest, message(2)], durable);
    const view = await other().view();
    expect(view.messages).toEqual([message(1), message(2)]);
    expect([view.pushed, view.receipts, view.acked]).toEqual([[rest[1]], [rest[2]], [rest[3]]]);
    expect(view.cursor('laptop' as Handle)).toMatchObject({ commit: commitId, seq: 7, at });
    expect(view.byNumber(2)).toEqual(message(2));
    expect(view.highest).toBe(2);
    expect(await journal.damage()).toEqual([]);
  });

  it('follows what others append, from where it stopped', async () => {
    const reader = other();
    await journal.append([message(1)], durable);
    expect((await reader.view()).highest).toBe(1);
    await other().append([message(2)], { durable: false });
    await journal.append([message(3)], durable);
    expect((await reader.view()).messages.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect((await journal.view()).messages.map(({ n }) => n)).toEqual([1, 2, 3]);
  });

  it('keeps messages of two senders with the same ULID apart', async () => {
    const twin = message(2, { id: message(1).id, sender: 'laptop' as Handle });
    const view = await journal.append([message(1), twin], durable);
    expect(view.byId(twin.id)?.n).toBe(1);
    expect(view.byIdFrom('laptop' as Handle, twin.id)?.n).toBe(2);
    expect(view.messages).toHaveLength(2);
  });

  it('starts its numbers where it is told to, and never goes back', async () => {
    await journal.raiseTo(10_000);
    await journal.raiseTo(5);
    expect((await other().view()).highest).toBe(10_000);
    await journal.append([message(10_001)], durable);
    expect((await other().view()).highest).toBe(10_001);
  });

  it('takes in nothing that it could not read again', async () => {
    const wrong = message(1, { id: 'x' as Ulid });
    await expect(journal.append([message(2), wrong], durable)).rejects.toThrow('field "id"');
    expect((await other().view()).messages).toEqual([]);
  });

  it('ignores a torn last line wherever it is cut, and the next append cuts it off', async () => {
    await journal.append([message(1)], durable);
    const whole = await readFile(file);
    await journal.append([message(2)], durable);
    const both = await readFile(file);
    for (let size = whole.length; size < both.length; size += 7) {
      await writeFile(file, both.subarray(0, size));
      const reader = other();
      expect((await reader.view()).highest).toBe(1);
      await reader.append([message(3)], durable);
      expect((await other().view()).messages.map(({ n }) => n)).toEqual([1, 3]);
      expect(await other().damage()).toEqual([]);
    }
  });

  it('reads a torn line once the rest of it is there', async () => {
    await journal.append([message(1)], durable);
    const before = (await readFile(file)).length;
    await journal.append([message(2)], durable);
    const both = await readFile(file);
    await truncate(file, before + 20);
    const reader = other();
    expect((await reader.view()).highest).toBe(1);
    await appendFile(file, both.subarray(before + 20));
    expect((await reader.view()).highest).toBe(2);
  });

  it('skips damaged lines, reports each, and keeps all others', async () => {
    await journal.append([message(1), message(2), message(3)], durable);
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[2] = (lines[2] ?? '').replace('"n":2', '"n":9');
    lines.splice(3, 0, '', '\0\0\0', 'no line at all', lines[1] ?? '');
    await writeFile(file, lines.join('\n'));
    const reader = other();
    expect((await reader.view()).messages.map(({ n }) => n)).toEqual([1, 3]);
    expect((await reader.damage()).map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
    expect((await reader.damage()).at(-1)?.reason).toContain('number 1 was given before');
    await reader.append([message(4)], durable);
    expect((await other().view()).messages.map(({ n }) => n)).toEqual([1, 3, 4]);
  });

  it('notices a file that was cut, replaced, rewritten in place or removed', async () => {
    await journal.append([message(1)], durable);
    const one = join(folder.path, 'one');
    await copyFile(file, one);
    await journal.append([message(2), message(3)], durable);
    const reader = other();
    await reader.view();
    await copyFile(one, file);
    expect((await reader.view()).messages.map(({ n }) => n)).toEqual([1]);
    const replacement = new FileJournal(nodeFs, join(folder.path, 'replacement'), storeId);
    await replacement.append([message(5), message(6), message(7), message(8)], durable);
    await copyFile(replacement.file, file);
    expect((await reader.view()).messages.map(({ n }) => n)).toEqual([5, 6, 7, 8]);
    await rename(one, file);
    expect((await reader.view()).messages.map(({ n }) => n)).toEqual([1]);
    await rename(file, one);
    expect((await reader.view()).highest).toBe(0);
    await reader.append([message(1)], durable);
    expect((await other().view()).messages.map(({ n }) => n)).toEqual([1]);
  });

  it.each([
    ['git-mesh-journal 2 01J00000000000000000ST0RE0\n', 'format_too_new'],
    ['git-mesh-journal 1 01J00000000000000000000000\n', 'store_damaged'],
  ])('refuses %j', async (header, errorName) => {
    await journal.append([message(1)], durable);
    await writeFile(file, header);
    await expect(other().view()).rejects.toMatchObject({ errorName });
    await expect(journal.append([message(2)], durable)).rejects.toMatchObject({ errorName });
    expect(await readFile(file, 'utf8')).toBe(header);
  });

  it('says that the disk is full, and is as it was before', async () => {
    await journal.append([message(1)], durable);
    const before = await readFile(file);
    for (const when of ['before', 'half', 'after'] as const) {
      for (const steps of [['write'], ['sync']] as const) {
        const full = other(guardedFs(faultyFs(nodeFs, { steps, at: 1, when, what: 'ENOSPC' }), folder.path));
        await expect(full.append([message(2)], durable)).rejects.toMatchObject({
          errorName: 'disk_full',
          message: expect.stringContaining('mesh/journal') as string,
        });
        expect((await full.view()).highest).toBe(1);
        expect(await readFile(file)).toEqual(before);
      }
    }
  });
});
