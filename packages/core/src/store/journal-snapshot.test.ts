import { appendFile, copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentId, AgentKey, Handle, Oid, Ulid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { temporaryFolder } from '../testing/store-fixture.js';
import { guardedFs } from './guarded-fs.js';
import { FileJournal } from './journal.js';
import { nodeFs } from './node-fs.js';
import type { JournalEntry, MessageEntry, StillNeeded } from './ports.js';

const storeId = '01J00000000000000000ST0RE0' as Ulid;
const studio = 'studio' as Handle;
const laptop = 'laptop' as Handle;
const start = Date.UTC(2026, 11, 2);
const days = 86_400_000;
const idOf = (n: number): Ulid => `01J${String(n).padStart(23, '0')}` as Ulid;
const commitOf = (n: number): Oid => n.toString(16).padStart(40, '0') as Oid;
/** One a minute. */
const timeOf = (n: number): string => new Date(start + n * 60_000).toISOString();

function message(n: number, rest: Partial<MessageEntry> = {}): MessageEntry {
  return {
    kind: 'message',
    n,
    id: idOf(n),
    sender: studio,
    agent: 'Boss' as AgentId,
    to: laptop,
    to_agent: null,
    type: 'note',
    sent_at: timeOf(n),
    expires_at: timeOf(n),
    at: timeOf(n),
    blob: commitOf(n),
    path: 'messages/laptop/x.yaml',
    seq: n,
    in_reply_to: null,
    repo: null,
    reason: null,
    key: null,
    ...rest,
  };
}

/** What one own message is followed by. */
const way = (n: number, rest: Partial<MessageEntry> = {}): JournalEntry[] => [
  message(n, rest),
  { kind: 'cursor', sender: studio, commit: commitOf(n), seq: n, at: timeOf(n) },
  { kind: 'pushed', remote: 'origin', commit: commitOf(n), seq: n, at: timeOf(n) },
  { kind: 'receipt', machine: laptop, seq: n, at: timeOf(n) },
  { kind: 'acked', id: idOf(n), machine: laptop, agent: 'qa' as AgentId, at: timeOf(n) },
];
const ways = (from: number, to: number): JournalEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => way(from + i)).flat();

let folder: { path: string; remove: () => Promise<void> };
let file: string;
let snapshot: string;
let journal: FileJournal;
const other = (fs = nodeFs): FileJournal => new FileJournal(guardedFs(fs, folder.path), file, storeId);
const durable = { durable: true };
const needed = (rest: Partial<StillNeeded> = {}): StillNeeded => ({
  own: studio,
  now: start + 40 * days,
  message: () => false,
  commits: new Set(),
  ...rest,
});
const numbers = async (of = other()): Promise<number[]> => (await of.view()).messages.map(({ n }) => n);

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'mesh', 'journal');
  snapshot = `${file}.snapshot`;
  journal = other();
});
afterEach(() => folder.remove());

describe('a journal that was settled', () => {
  it('leaves what is done with out, here and in other processes, and has all of it in the whole', async () => {
    await journal.append(ways(1, 1000), durable);
    const before = other();
    await before.view();
    expect(await journal.isLong()).toBe(true);
    await journal.settle(needed({ message: ({ n }) => n === 7 }));
    expect(await journal.isLong()).toBe(false);
    const kept = [7, ...Array.from({ length: 200 }, (_, i) => 801 + i)];
    expect(await numbers(journal)).toEqual(kept);
    expect(await numbers(before)).toEqual(kept);
    expect(await numbers()).toEqual(kept);
    const view = await other().view();
    expect([view.highest, view.total, view.lines]).toEqual([1000, 1000, 5000]);
    expect(view.byIdFrom(studio, idOf(7))).toEqual(message(7));
    const all = await other().whole();
    expect(all.messages).toHaveLength(1000);
    expect(all.byNumber(8)).toEqual(message(8));
  });

  it('tells what may be left out from what was never there', async () => {
    await journal.append(ways(1, 1000), durable);
    await journal.settle(needed({ message: ({ n }) => n === 7 }));
    const view = await other().view();
    expect([view.mayLack(800), view.mayLack(801), view.mayLack(idOf(800)), view.mayLack(idOf(801))]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(view.mayLack(idOf(3), laptop)).toBe(false);
    expect(view.lastLeftOut(studio, 'boss' as AgentKey)).toBe(idOf(800));
    expect(view.lastLeftOut(studio, 'qa' as AgentKey)).toBeUndefined();
  });

  it('keeps what is known of the way of each message that it keeps', async () => {
    await journal.append(ways(1, 1000), durable);
    await journal.settle(needed({ message: ({ n }) => n === 7, commits: new Set([commitOf(9)]) }));
    const view = await other().view();
    expect([view.pushed[0], view.receipts[0], view.acked[0]]).toEqual(way(7).slice(2));
    expect(view.pushed.at(-1)?.seq).toBe(1000);
    expect(view.cursor(studio)?.commit).toBe(commitOf(1000));
    expect(view.tips(studio)[0]).toMatchObject({ commit: commitOf(9), seq: 9 });
    expect(view.tips(studio)).toHaveLength(101);
  });

  it('goes on: the next number, what moves, and what is settled again', async () => {
    await journal.append(ways(1, 1000), durable);
    await journal.settle(needed());
    const next = other();
    // One that is left out, as of a machine that was restored from a backup.
    await next.append([{ kind: 'moved', id: idOf(3), seq: 99 }, ...ways(1001, 1400)], durable);
    expect(await next.damage()).toEqual([]);
    await next.settle(needed());
    const view = await other().view();
    expect([view.highest, view.total, view.messages.length]).toEqual([1400, 1400, 200]);
    expect(view.mayLack(900)).toBe(true);
    expect((await other().whole()).messages).toHaveLength(1400);
  });

  it('keeps the last message of each sender, each agent’s newest and its freezes for as long as they are young', async () => {
    const lab = message(1, { sender: laptop, to: studio });
    const freeze = message(2, { type: 'freeze', sender: laptop, to: '*' });
    const rare = way(3, { agent: 'rare' as AgentId });
    await journal.append([lab, freeze, ...rare, message(4, { sender: laptop }), ...ways(5, 1000)], durable);
    await journal.settle(needed({ now: start + 2 * days }));
    expect((await numbers()).slice(0, 4)).toEqual([2, 3, 4, 801]);
    await other().settle(needed({ now: start + 70 * days }));
    expect((await numbers()).slice(0, 2)).toEqual([4, 801]);
  });

  it('knows from where a clock that was set back bounds what came before', async () => {
    await journal.append([...way(1, { at: timeOf(50) }), ...ways(2, 700)], durable);
    const before = (await journal.view()).byNumber(1);
    expect(before?.at_most).toBe(timeOf(1));
    await journal.settle(needed({ message: ({ n }) => n === 1 }));
    expect((await other().view()).byNumber(1)).toEqual(before);
    expect((await other().view()).byNumber(600)?.at_most).toBeUndefined();
  });
});

describe('a snapshot that does not fit', () => {
  const all = async (): Promise<void> => {
    const view = await other().view();
    expect([view.messages.length, view.highest]).toEqual([1000, 1000]);
  };
  beforeEach(async () => {
    await journal.append(ways(1, 1000), durable);
    await journal.settle(needed());
    expect(await numbers()).toHaveLength(200);
  });

  it('is none where it was cut off, changed, or removed', async () => {
    const source = await readFile(snapshot);
    for (const bad of [source.subarray(0, -100), source.subarray(0, 40), Buffer.alloc(0)]) {
      await writeFile(snapshot, bad);
      await all();
    }
    await writeFile(snapshot, source.toString('latin1').replace('"total":1000', '"total":1001'), 'latin1');
    await all();
    await rm(snapshot);
    await all();
  });

  it('is none for a journal that was put back from before it, however far that has gone on', async () => {
    await copyFile(file, `${file}.old`);
    await truncate(file, (await stat(file)).size - 300);
    expect((await other().view()).messages.length).toBe(1000);
    // Another line stands where the snapshot's last one did.
    await truncate(file, 200_000);
    const view = await other().view();
    const last = view.highest;
    expect(last).toBeLessThan(1000);
    await other().append(ways(last + 1, last + 900).map(shortened), durable);
    expect((await other().view()).messages.length).toBe(last + 900);
  });

  it('is none for the journal of another store, and for one that is gone', async () => {
    const theirs = join(folder.path, 'mesh', 'theirs');
    await copyFile(snapshot, `${theirs}.snapshot`);
    const another = new FileJournal(nodeFs, theirs, '01J00000000000000000ST0RE1' as Ulid);
    await another.append([message(1)], durable);
    expect((await another.view()).messages).toEqual([message(1)]);
    await rm(file);
    expect((await other().view()).highest).toBe(0);
    await other().append([message(1)], durable);
    expect(await numbers()).toEqual([1]);
  });

  it('is gone once damaged lines were dropped, and hides no damage from who asks for the whole', async () => {
    const source = await readFile(file, 'latin1');
    await writeFile(file, source.replace('"n":3,', '"n":4,'), 'latin1');
    expect(await other().damage()).toEqual([]);
    expect(await other().damage({ whole: true })).toMatchObject([{ corrupt: true }]);
    await appendFile(file, '00000000 {"kind":"message"}\n');
    expect(await other().dropDamaged()).toBe(1);
    await expect(stat(snapshot)).rejects.toThrow('ENOENT');
  });

  it('is not made of a journal with damage, and not missed on a disk that takes nothing', async () => {
    await rm(snapshot);
    for (const steps of [['sync'], ['open'], ['write'], ['rename']] as const) {
      const full = faultyFs(nodeFs, { steps, at: 1, when: 'before', what: 'ENOSPC', lasting: true });
      await other(full).settle(needed());
      await expect(stat(snapshot)).rejects.toThrow('ENOENT');
    }
    await appendFile(file, '00000000 {"kind":"message"}\n');
    await other().settle(needed());
    await expect(stat(snapshot)).rejects.toThrow('ENOENT');
  });
});

/** Lines of another length. */
const shortened = (entry: JournalEntry): JournalEntry =>
  entry.kind === 'message' ? { ...entry, path: 'messages/laptop/y' } : entry;
