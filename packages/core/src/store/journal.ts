import { dirname } from 'node:path';
import type { Ulid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { writeDurable } from './durable-fs.js';
import type { Fs, FsFile, FsStat } from './fs.js';
import { isErrno } from './fs.js';
import { CheckedJournal } from './journal-checked.js';
import { decodeCheckedLine, decodeLine, encodeLine } from './journal-line.js';
import type { JournalLine } from './journal-line.js';
import { LiveJournalView } from './journal-view.js';
import type { Journal, JournalDamage, JournalEntry, JournalView } from './ports.js';

type Damage = Omit<JournalDamage, 'line'>;

const formatNumber = 1;
const lineFeed = 10;

/** What was read of one file. */
interface Progress {
  view: LiveJournalView;
  damage: JournalDamage[];
  inode: number;
  /** Where the last whole line ends. */
  offset: number;
  lines: number;
  /** Up to here, the end of a line, nothing was damaged. */
  sound: number;
  /** The last whole line, checksum included: a file that has another one there was replaced. */
  tail: Buffer;
  /** The size at the last look; past `offset` there is a torn line. */
  size: number;
  mtimeMs: number;
}

const nothing = (): Progress => ({
  view: new LiveJournalView(),
  damage: [],
  inode: -1,
  offset: 0,
  lines: 0,
  sound: 0,
  tail: Buffer.alloc(0),
  size: -1,
  mtimeMs: -1,
});

/** {@link Journal} in one file: a header line `git-mesh-journal 1 <store id>`, then a line an entry. */
export class FileJournal implements Journal {
  readonly file: string;
  readonly #fs: Fs;
  readonly #header: string;
  readonly #checked: CheckedJournal;
  #progress: Progress = nothing();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(fs: Fs, file: string, store: Ulid) {
    this.#fs = fs;
    this.file = file;
    this.#checked = new CheckedJournal(fs, file);
    this.#header = `git-mesh-journal ${formatNumber} ${store}`;
  }

  async view(): Promise<JournalView> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      return this.#progress.view;
    });
  }

  async damage(): Promise<readonly JournalDamage[]> {
    await this.view();
    const { damage, lines, offset, size } = this.#progress;
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
      await this.#catchUp();
      const left = new Set(this.#progress.damage.filter(({ corrupt }) => corrupt === true).map(({ line }) => line));
      if (left.size === 0) return 0;
      const bytes = asBuffer(await this.#fs.readFile(this.file));
      const kept: string[] = [`${this.#header}\n`];
      for (const [index, line] of bytes.toString('latin1').split('\n').entries()) {
        const source = Buffer.from(line, 'latin1');
        if (index === 0 || left.has(index + 1) || decodeLine(source).kind === 'cursor') continue;
        // What another version wrote, and this one cannot tell, is kept; a torn end is none of it.
        if (source.length > 0 && index < this.#progress.lines) kept.push(`${source.toString('latin1')}\n`);
      }
      await writeDurable(this.#fs, `${this.file}.damaged`, bytes);
      await writeDurable(this.#fs, this.file, Buffer.from(kept.join(''), 'latin1'));
      this.#progress = nothing();
      await this.#catchUp();
      return left.size;
    });
  }

  async #append(lines: readonly JournalLine[], { durable }: { durable: boolean }): Promise<JournalView> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      if (lines.length > 0) await this.#write(lines, durable);
      return this.#progress.view;
    });
  }

  async #write(lines: readonly JournalLine[], durable: boolean): Promise<void> {
    if (this.#progress.offset === 0) await this.#create();
    const file = await this.#fs.open(this.file, 'append');
    try {
      // A torn last line is no entry: nothing may be joined to it.
      if ((await file.stat()).size > this.#progress.offset) await file.truncate(this.#progress.offset);
      const bytes = Buffer.from(lines.map(encodeChecked).join(''));
      await this.#writeAll(file, bytes, durable);
      this.#take(bytes);
      this.#note(await file.stat());
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
        await file.truncate(this.#progress.offset);
      } catch {
        // The next append cuts a torn line off; the failure to report is the first one.
      }
      throw error;
    }
  }

  async #create(): Promise<void> {
    await this.#fs.makeFolder(dirname(this.file));
    await writeDurable(this.#fs, this.file, Buffer.from(`${this.#header}\n`));
    this.#progress = nothing();
    await this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    const stat = await this.#fs.stat(this.file);
    if (stat === null) {
      if (this.#progress.offset > 0) this.#progress = nothing();
      return;
    }
    const { inode, size, mtimeMs } = this.#progress;
    if (stat.inode === inode && stat.size === size && stat.mtimeMs === mtimeMs) return;
    try {
      const file = await this.#fs.open(this.file, 'read');
      try {
        await this.#readNew(file);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
      this.#progress = nothing();
    }
  }

  async #readNew(file: FsFile): Promise<void> {
    const stat = await file.stat();
    const before = this.#progress;
    const start = Math.max(0, before.offset - before.tail.length);
    let bytes = asBuffer(await file.read(start, Math.max(0, stat.size - start)));
    const goesOn =
      stat.inode === before.inode &&
      stat.size >= before.offset &&
      bytes.subarray(0, before.tail.length).equals(before.tail);
    if (goesOn) {
      bytes = bytes.subarray(before.tail.length);
      this.#take(bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1));
    } else {
      this.#progress = nothing();
      if (start > 0) bytes = asBuffer(await file.read(0, stat.size));
      await this.#takeAll(bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1));
    }
    this.#note(stat);
  }

  /** The whole file, of which most was checked by an earlier command. */
  async #takeAll(bytes: Buffer): Promise<void> {
    const known = await this.#checked.bytesOf(bytes);
    this.#takeChecked(bytes.subarray(0, known));
    this.#take(bytes.subarray(known));
    await this.#checked.note(bytes.subarray(0, this.#progress.sound), { known });
  }

  #note(stat: FsStat): void {
    this.#progress.inode = stat.inode;
    this.#progress.size = stat.size;
    this.#progress.mtimeMs = stat.mtimeMs;
  }

  /** Whole lines, from where the last ones ended. */
  #take(bytes: Buffer): void {
    const progress = this.#progress;
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(lineFeed, start);
      const line = bytes.subarray(start, end);
      progress.lines += 1;
      const found = progress.lines === 1 ? this.#checkHeader(line.toString('utf8')) : this.#takeEntry(line);
      if (found !== null) progress.damage.push({ line: progress.lines, ...found });
      start = end + 1;
      if (progress.damage.length === 0) progress.sound = progress.offset + start;
    }
    this.#passed(bytes);
  }

  /** As {@link FileJournal.#take} of the beginning of the file, where all is known to be as it should. */
  #takeChecked(bytes: Buffer): void {
    const progress = this.#progress;
    const text = bytes.toString('utf8');
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n', start);
      const line = text.slice(start, end);
      progress.lines += 1;
      if (progress.lines === 1) this.#checkHeader(line);
      else progress.view.add(decodeCheckedLine(line));
      start = end + 1;
    }
    progress.sound = bytes.length;
    this.#passed(bytes);
  }

  #passed(bytes: Buffer): void {
    const progress = this.#progress;
    progress.offset += bytes.length;
    if (bytes.length > 0) progress.tail = Buffer.from(bytes.subarray(bytes.lastIndexOf(lineFeed, -2) + 1));
  }

  #takeEntry(line: Buffer): Damage | null {
    const entry = decodeLine(line);
    if (entry.kind === 'damaged') {
      return { reason: entry.reason, ...(entry.corrupt === true ? { corrupt: true } : {}) };
    }
    const reason = this.#progress.view.add(entry);
    return reason === null ? null : { reason };
  }

  #checkHeader(line: string): Damage | null {
    if (line === this.#header) return null;
    const [, format, store] = /^git-mesh-journal (\d{1,9}) (\S+)$/.exec(line) ?? [];
    if (format === undefined) return { reason: 'the header is not "git-mesh-journal 1 <store>"', corrupt: true };
    this.#progress = nothing();
    if (Number(format) > formatNumber) {
      throw new MeshError(
        'format_too_new',
        `mesh/journal has format ${format}, this git-mesh knows ${formatNumber}: update git-mesh`,
      );
    }
    throw new MeshError(
      'store_damaged',
      `mesh/journal belongs to store ${store ?? ''}, expected "${this.#header}": put the right file back, or move this one away and a new one is made from the branches`,
    );
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}

/** What we could not read again must not be written. */
function encodeChecked(line: JournalLine): string {
  const encoded = encodeLine(line);
  const read = decodeLine(Buffer.from(encoded.slice(0, -1)));
  if (read.kind === 'damaged') throw new Error(`a wrong ${line.kind} was to be put into the journal: ${read.reason}`);
  return encoded;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
