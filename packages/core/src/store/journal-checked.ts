import { isRefusal, readCache, sha256 } from './cache-file.js';
import { writeAtomic } from './durable-fs.js';
import type { Fs } from './fs.js';
import type { Shape } from './shape.js';
import { oneOf, parseJson, shaped, text, whole } from './shape.js';

/** To be raised with every change of what a line may hold: what was checked by other rules is checked again. */
const rules = 1;
/** So much of a journal is checked anew at each start before it is worth a note. */
const worthNoting = 128 * 1024;

interface Note {
  rules: number;
  /** The journal's first bytes, up to the end of a line, in which every line was found whole and well-formed. */
  bytes: number;
  sha256: string;
}

const noteShape: Shape<Note> = { rules: oneOf(rules), bytes: whole, sha256: text };
const isNote = shaped<Note>(noteShape);

/**
 * How much of a journal has been checked line by line, in a file beside it, so that not every command does it again. It
 * is a cache and proves nothing by itself: it counts only for the very bytes whose hash it names, and any that is
 * damaged, missing or of another journal costs time and nothing else.
 */
export class CheckedJournal {
  readonly #fs: Fs;
  readonly #file: string;

  constructor(fs: Fs, journalFile: string) {
    this.#fs = fs;
    this.#file = `${journalFile}.checked`;
  }

  /** Of a journal's content from its beginning: how many bytes need no further check. */
  async bytesOf(content: Buffer): Promise<number> {
    if (content.length < worthNoting) return 0;
    const source = await readCache(this.#fs, this.#file);
    const note = source === null ? undefined : parseJson(source);
    if (!isNote(note) || note.bytes > content.length) return 0;
    return sha256(content.subarray(0, note.bytes)) === note.sha256 ? note.bytes : 0;
  }

  /** Notes that the first bytes were checked, where `known` (from {@link CheckedJournal.bytesOf}) is far behind. */
  async note(checked: Buffer, { known }: { known: number }): Promise<void> {
    if (checked.length - known < worthNoting) return;
    const note: Note = { rules, bytes: checked.length, sha256: sha256(checked) };
    try {
      await writeAtomic(this.#fs, this.#file, Buffer.from(`${JSON.stringify(note)}\n`));
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
}
