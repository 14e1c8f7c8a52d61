import { createHash } from 'node:crypto';
import { appendFile, copyFile, mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Handle, Oid, Ulid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { guardedFs } from './guarded-fs.js';
import { FileJournal } from './journal.js';
import { nodeFs } from './node-fs.js';
import type { JournalDamage, JournalEntry, MessageEntry } from './ports.js';

const storeId = '01J00000000000000000ST0RE0' as Ulid;
const at = '2026-12-02T05:00:00.000Z';
const commit = 'a'.repeat(40) as Oid;
const many = 500;

function message(n: number): MessageEntry {
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
    blob: commit,
    path: 'messages/_all/x.yaml',
    seq: n,
    in_reply_to: null,
    repo: 'línea\u2028 "quoted"\n',
    reason: null,
    key: null,
  };
}

/** Each message with the cursor after it, as they come. */
const entries = (from: number, to: number): JournalEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((n): JournalEntry[] => [
    message(n),
    { kind: 'cursor', sender: 'studio' as Handle, commit, seq: n, at },
  ]);

let folder: { path: string; remove: () => Promise<void> };
let file: string;
let note: string;
const journal = (fs = nodeFs): FileJournal => new FileJournal(guardedFs(fs, folder.path), file, storeId);

interface Reading {
  highest: number;
  messages: readonly MessageEntry[];
  tips: number;
  damage: readonly JournalDamage[];
}

async function reading(of: FileJournal = journal()): Promise<Reading> {
  const view = await of.view();
  const tips = view.tips('studio' as Handle).length;
  return { highest: view.highest, messages: view.messages, tips, damage: await of.damage() };
}

/** What a reader finds who has no note. */
async function readingAnew(): Promise<Reading> {
  await rm(note, { recursive: true, force: true });
  return reading();
}

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'mesh', 'journal');
  note = `${file}.checked`;
  await journal().append(entries(1, many), { durable: true });
});
afterEach(() => folder.remove());

describe('the note of how much of a journal was checked', () => {
  it('is made by the first reader of a long journal, and the next one finds the same', async () => {
    const first = await reading();
    expect(first).toMatchObject({ highest: many, tips: many, damage: [] });
    const { bytes } = JSON.parse(await readFile(note, 'utf8')) as { bytes: number };
    expect(bytes).toBe((await stat(file)).size);
    expect(await reading()).toEqual(first);
  });

  it('spares the next reader the check of every line', async () => {
    await reading();
    const before = await readFile(file, 'utf8');
    // No checksum of a line is looked at where the hash of them all is right.
    const content = before.replace(/^[0-9a-f]{8} /gm, '00000000 ');
    await writeFile(file, content);
    expect((await reading()).messages).toEqual([]);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await writeFile(note, JSON.stringify({ rules: 1, bytes: Buffer.byteLength(content), sha256 }));
    expect(await reading()).toMatchObject({ highest: many, damage: [] });
  });

  it('is not made for a short one', async () => {
    await rm(file);
    await journal().append(entries(1, 5), { durable: true });
    expect((await reading()).highest).toBe(5);
    await expect(stat(note)).rejects.toThrow('ENOENT');
  });

  it('holds for what was appended since, which is checked, and moves on once that is much', async () => {
    await reading();
    const before = await readFile(note);
    await journal().append(entries(many + 1, many + 10), { durable: true });
    await appendFile(file, '00000000 {}\nno whole line');
    const found = await reading();
    expect(found).toMatchObject({ highest: many + 10, damage: [{ corrupt: true }, { torn: true }] });
    expect(await readFile(note)).toEqual(before);
    expect(await readingAnew()).toEqual(found);
    await journal().append(entries(many + 11, 2 * many), { durable: true });
    await writeFile(note, before);
    expect((await reading()).highest).toBe(2 * many);
    // No further than the first damage.
    expect(await readFile(note)).toEqual(before);
    await journal().dropDamaged();
    expect((await reading()).damage).toEqual([]);
    expect(await readFile(note)).not.toEqual(before);
  });

  it.each<[string, () => Promise<void>]>([
    ['a byte of the journal is another', () => change((bytes) => bytes.fill('9', 5_000, 5_001))],
    ['a piece of it is zeros', () => change((bytes) => bytes.fill(0, 90_000, 94_096))],
    ['its first line is damaged', () => change((bytes) => bytes.fill('x', 3, 4))],
    ['its end is cut off', async () => truncate(file, (await stat(file)).size - 100)],
    ['all but its beginning is cut off', () => truncate(file, 1_000)],
    ['it is empty', () => truncate(file, 0)],
    ['an older copy of it stands there', () => copyFile(`${file}.old`, file)],
    ['a line is there twice', async () => appendFile(file, `${(await readFile(file, 'utf8')).split('\n')[1] ?? ''}\n`)],
    ['the note is cut off', () => truncate(note, 40)],
    ['the note is no note', () => writeFile(note, '{"rules":1,"bytes":-1,"sha256":""}')],
    ['the note is one by other rules', () => edit((told) => ({ ...told, rules: 2 }))],
    ['the note speaks of more than there is', () => edit((told) => ({ ...told, bytes: told.bytes * 2 }))],
    ['the note speaks of less, by another hash', () => edit((told) => ({ ...told, bytes: 300 }))],
    [
      'a folder stands in the place of the note',
      async () => {
        await rm(note);
        await mkdir(note);
      },
    ],
  ])('changes nothing of what is found where %s', async (_, damage) => {
    await copyFile(file, `${file}.old`);
    await journal().append(entries(many + 1, 2 * many), { durable: true });
    await reading();
    await damage();
    const found = await reading();
    const highest = (await journal().append([message(found.highest + 1)], { durable: true })).highest;
    expect(highest).toBe(found.highest + 1);
    const withNote = await reading();
    expect(withNote).toEqual(await readingAnew());
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES', 'EIO'] as const)('is done without where the disk says %s', async (what) => {
    const refuses = faultyFs(nodeFs, { steps: ['open'], at: 1, when: 'before', what, lasting: true });
    expect((await reading(journal(refuses))).highest).toBe(many);
    await expect(stat(note)).rejects.toThrow('ENOENT');
  });
});

async function change(how: (bytes: Buffer) => void): Promise<void> {
  const bytes = await readFile(file);
  how(bytes);
  await writeFile(file, bytes);
}

async function edit(how: (told: { bytes: number }) => object): Promise<void> {
  await writeFile(note, JSON.stringify(how(JSON.parse(await readFile(note, 'utf8')) as { bytes: number })));
}
