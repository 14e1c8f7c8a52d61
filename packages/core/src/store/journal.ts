import { dirname } from 'node:path';
import type { Ulid } from '../domain/ids.js';
import { asBuffer } from './as-buffer.js';
import { isRefusal } from './cache-file.js';
import { writeDurable } from './durable-fs.js';
import type { Fs, FsFile } from './fs.js';
import { keptOf } from './journal-kept.js';
import { decodeLine } from './journal-line.js';
import type { JournalLine } from './journal-line.js';
import { encodeChecked, isLong } from './journal-progress.js';
import { journalHeader, JournalReader } from './journal-reader.js';
import { JournalSnapshot } from './journal-snapshot.js';
import type { Journal, JournalDamage, JournalEntry, JournalView, StillNeeded } from './ports.js';

/** {@link Journal} in one file: a header line `git-mesh-journal 1 <store id>`, then a line an entry. */
export class FileJournal implements Journal {
  readonly file: string;
  readonly #fs: Fs;
  readonly #store: Ulid;
  readonly #header: string;
  /** Null for a reader of all of it. */
  readonly #snapshot: JournalSnapshot | null;
  readonly #reader: JournalReader;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(fs: Fs, file: string, store: Ulid, { whole = false }: { whole?: boolean } = {}) {
    this.#fs = fs;
    this.file = file;
    this.#store = store;
    this.#snapshot = whole ? null : new JournalSnapshot(fs, file);
    this.#header = journalHeader(store);
    this.#reader = new JournalReader({ fs, file, header: this.#header, snapshot: this.#snapshot });
  }

  async view(): Promise<JournalView> {
    return this.#inTurn(async () => {
      await this.#reader.catchUp();
      return this.#reader.progress.view;
    });
  }

  async whole(): Promise<JournalView> {
    const view = await this.view();
    return this.#reader.progress.begun.lines === 0 ? view : this.#whole().view();
  }

  async isLong(): Promise<boolean> {
    await this.view();
    const { progress } = this.#reader;
    // One with damage is not settled.
    return progress.damage.length === 0 && isLong(progress);
  }

  async settle(needed: StillNeeded): Promise<void> {
    const snapshot = this.#snapshot;
    if (snapshot === null) return;
    return this.#inTurn(async () => {
      await this.#reader.catchUp();
      const { view, damage, offset, lines, tail } = this.#reader.progress;
      if (damage.length > 0 || offset === 0) return;
      try {
        // Not durable yet as far as others appended: what stands for it must not outlive it.
        await this.#sync();
        const place = { header: this.#header, bytes: offset, tail: tail.toString('utf8'), lines };
        await snapshot.write(view, place, keptOf(view, needed));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return;
      }
      // From the file, as everybody else reads it.
      this.#reader.reset();
      await this.#reader.catchUp();
    });
  }

  async damage(options?: { whole: true }): Promise<readonly JournalDamage[]> {
    await this.view();
    if (options?.whole === true && this.#reader.progress.begun.lines > 0) return this.#whole().damage();
    const { damage, lines, offset, size } = this.#reader.progress;
    return size > offset ? [...damage, { line: lines + 1, reason: 'its end is cut off', torn: true }] : [...damage];
  }

  async append(entries: readonly JournalEntry[], options: { durable: boolean }): Promise<JournalView> {
    return this.#append(entries, options);
  }

  async raiseTo(floor: number): Promise<void> {
    if ((await this.view()).highest < floor) await this.#append([{ kind: 'raise', n: floor }], { durable: true });
  }

  async dropDamaged(): Promise<number> {
    return this.#inTurn(async () => {
      await this.#reader.catchUp();
      const left = new Set(
        this.#reader.progress.damage.filter(({ corrupt }) => corrupt === true).map(({ line }) => line),
      );
      if (left.size === 0) return 0;
      const bytes = asBuffer(await this.#fs.readFile(this.file));
      const kept: string[] = [`${this.#header}\n`];
      for (const [index, line] of bytes.toString('latin1').split('\n').entries()) {
        const source = Buffer.from(line, 'latin1');
        if (index === 0 || left.has(index + 1) || decodeLine(source).kind === 'cursor') continue;
        // What another version wrote, and this one cannot tell, is kept; a torn end is none of it.
        if (source.length > 0 && index < this.#reader.progress.lines) kept.push(`${source.toString('latin1')}\n`);
      }
      await writeDurable(this.#fs, `${this.file}.damaged`, bytes);
      await this.#snapshot?.remove();
      await writeDurable(this.#fs, this.file, Buffer.from(kept.join(''), 'latin1'));
      this.#reader.reset();
      await this.#reader.catchUp();
      return left.size;
    });
  }

  async #append(lines: readonly JournalLine[], { durable }: { durable: boolean }): Promise<JournalView> {
    return this.#inTurn(async () => {
      await this.#reader.catchUp();
      if (lines.length > 0) await this.#write(lines, durable);
      return this.#reader.progress.view;
    });
  }

  async #write(lines: readonly JournalLine[], durable: boolean): Promise<void> {
    if (this.#reader.progress.offset === 0) await this.#create();
    const file = await this.#fs.open(this.file, 'append');
    try {
      // A torn last line is no entry: nothing may be joined to it.
      if ((await file.stat()).size > this.#reader.progress.offset) await file.truncate(this.#reader.progress.offset);
      const bytes = Buffer.from(lines.map(encodeChecked).join(''));
      await this.#writeAll(file, bytes, durable);
      this.#reader.take(bytes);
      this.#reader.note(await file.stat());
    } finally {
      await file.close();
    }
  }

  /** A write that failed half-way leaves no part of itself, where the disk lets us. */
  async #writeAll(file: FsFile, bytes: Uint8Array, durable: boolean): Promise<void> {
    try {
      await file.write(bytes);
      if (durable) await file.sync();
    } catch (error) {
      try {
        await file.truncate(this.#reader.progress.offset);
      } catch {
        // The next append cuts a torn line off; the failure to report is the first one.
      }
      throw error;
    }
  }

  async #sync(): Promise<void> {
    const file = await this.#fs.open(this.file, 'append');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #whole(): FileJournal {
    return new FileJournal(this.#fs, this.file, this.#store, { whole: true });
  }

  async #create(): Promise<void> {
    await this.#fs.makeFolder(dirname(this.file));
    await writeDurable(this.#fs, this.file, Buffer.from(`${this.#header}\n`));
    this.#reader.reset();
    await this.#reader.catchUp();
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
