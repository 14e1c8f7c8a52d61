import type { Ulid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { asBuffer } from './as-buffer.js';
import type { Fs, FsFile, FsStat } from './fs.js';
import { isErrno } from './fs.js';
import { CheckedJournal } from './journal-checked.js';
import { decodeCheckedLine, decodeLine } from './journal-line.js';
import { isLong, nothing } from './journal-progress.js';
import type { Progress } from './journal-progress.js';
import type { JournalSnapshot } from './journal-snapshot.js';
import type { JournalDamage } from './ports.js';

type Damage = Omit<JournalDamage, 'line'>;

const formatNumber = 1;
const lineFeed = 10;

export const journalHeader = (store: Ulid): string => `git-mesh-journal ${formatNumber} ${store}`;

export interface JournalReaderParts {
  fs: Fs;
  file: string;
  header: string;
  /** Null for a reader of all of it. */
  snapshot: JournalSnapshot | null;
}

/** What is known of a journal's file: follows what is appended, and begins anew where it was replaced. One call at a time. */
export class JournalReader {
  readonly #fs: Fs;
  readonly #file: string;
  readonly #header: string;
  readonly #checked: CheckedJournal;
  readonly #snapshot: JournalSnapshot | null;
  #progress: Progress = nothing();

  constructor({ fs, file, header, snapshot }: JournalReaderParts) {
    this.#fs = fs;
    this.#file = file;
    this.#header = header;
    this.#checked = new CheckedJournal(fs, file);
    this.#snapshot = snapshot;
  }

  get progress(): Readonly<Progress> {
    return this.#progress;
  }

  /** The next look begins anew. */
  reset(): void {
    this.#progress = nothing();
  }

  async catchUp(): Promise<void> {
    const stat = await this.#fs.stat(this.#file);
    if (stat === null) {
      if (this.#progress.offset > 0) this.#progress = nothing();
      return;
    }
    const { inode, size, mtimeMs } = this.#progress;
    const isOutgrown = await this.#isOutgrown();
    if (!isOutgrown && stat.inode === inode && stat.size === size && stat.mtimeMs === mtimeMs) return;
    if (isOutgrown) this.#progress = nothing();
    try {
      const file = await this.#fs.open(this.#file, 'read');
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
      this.take(bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1));
    } else {
      this.#progress = nothing();
      const begun = await this.#begin(file);
      if (begun > 0 || start > 0) bytes = asBuffer(await file.read(begun, Math.max(0, stat.size - begun)));
      const whole = bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1);
      if (begun > 0) this.take(whole);
      else await this.#takeAll(whole);
    }
    this.note(stat);
  }

  /** Whether somebody left more out since than this one began without. */
  async #isOutgrown(): Promise<boolean> {
    const { begun } = this.#progress;
    if (this.#snapshot === null || !isLong(this.#progress)) return false;
    const there = await this.#snapshot.identity();
    return there !== null && there !== begun.snapshot;
  }

  /** Begins with the snapshot, where there is one that fits; gives how many bytes of the journal it stands for. */
  async #begin(file: FsFile): Promise<number> {
    const identity = (await this.#snapshot?.identity()) ?? null;
    const restored = identity === null ? null : ((await this.#snapshot?.read(file, this.#header)) ?? null);
    if (restored === null) {
      // One that does not fit is not looked at again at every turn.
      this.#progress.begun.snapshot = identity;
      return 0;
    }
    const { view, place } = restored;
    this.#progress = {
      ...nothing(),
      view,
      offset: place.bytes,
      lines: place.lines,
      sound: place.bytes,
      tail: Buffer.from(place.tail),
      begun: { snapshot: identity, lines: place.lines, kept: restored.kept },
    };
    return place.bytes;
  }

  /** The whole file, of which most was checked by an earlier command. */
  async #takeAll(bytes: Buffer): Promise<void> {
    const known = await this.#checked.bytesOf(bytes);
    this.#takeChecked(bytes.subarray(0, known));
    this.take(bytes.subarray(known));
    await this.#checked.note(bytes.subarray(0, this.#progress.sound), { known });
  }

  /** How the file was left by an append whose lines were taken in. */
  note(stat: FsStat): void {
    this.#progress.inode = stat.inode;
    this.#progress.size = stat.size;
    this.#progress.mtimeMs = stat.mtimeMs;
  }

  /** Whole lines, from where the last ones ended. */
  take(bytes: Buffer): void {
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

  /** As {@link JournalReader.take} of the beginning of the file, where all is known to be as it should. */
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
}
