import { isAgentKey, isHandle } from '../domain/ids.js';
import type { AgentKey, Handle, Ulid } from '../domain/ids.js';
import { readCache, sha256 } from './cache-file.js';
import { writeAtomic } from './durable-fs.js';
import type { Fs, FsFile } from './fs.js';
import { isErrno } from './fs.js';
import { LiveJournalView } from './journal-view.js';
import type { RestoredLine } from './journal-view.js';
import type { LeftOut } from './journal-left-out.js';
import type { Check } from './shape.js';
import { isRecord, parseJson, shaped, text, ulid, whole } from './shape.js';

const magic = 'git-mesh-journal-snapshot 1';
const lineFeed = 10;

/** Where in the journal a snapshot was made. */
interface Place {
  /** The journal's header line. */
  header: string;
  /** The journal up to here, the end of a line. */
  bytes: number;
  /** That line, with its line feed. */
  tail: string;
  lines: number;
}

interface Head extends Place {
  highest: number;
  total: number;
  left_out: { highest: number; ids: Record<string, Ulid>; agents: Record<string, Ulid> };
}

const isLeftOut: Check<Head['left_out']> = shaped<Head['left_out']>({
  highest: whole,
  ids: (value): value is Record<string, Ulid> =>
    isRecord(value) && Object.entries(value).every(([name, id]) => isHandle(name) && ulid(id)),
  agents: (value): value is Record<string, Ulid> =>
    isRecord(value) && Object.entries(value).every(([key, id]) => isAgentKey(key) && ulid(id)),
});

const isHead: Check<Head> = shaped<Head>({
  header: text,
  bytes: whole,
  tail: text,
  lines: whole,
  highest: whole,
  total: whole,
  left_out: isLeftOut,
});

export interface Restored {
  view: LiveJournalView;
  place: Place;
  /** How many lines it holds. */
  kept: number;
}

/**
 * What is still needed of a journal's beginning, in a file beside it, so that no command reads what is done with. It is a
 * cache and proves nothing by itself: it names the very line of the journal that it goes up to, and one that is damaged,
 * missing, or of a journal that has another line there (put back, or made anew) costs time and nothing else.
 */
export class JournalSnapshot {
  readonly #fs: Fs;
  readonly #file: string;

  constructor(fs: Fs, journalFile: string) {
    this.#fs = fs;
    this.#file = `${journalFile}.snapshot`;
  }

  /** Names the snapshot that is there; null where none is. */
  async identity(): Promise<string | null> {
    const stat = await this.#fs.stat(this.#file);
    return stat === null ? null : `${stat.inode} ${stat.size} ${stat.mtimeMs}`;
  }

  /** Null where there is none that fits this journal. */
  async read(journal: FsFile, header: string): Promise<Restored | null> {
    const source = await readCache(this.#fs, this.#file);
    if (source === null) return null;
    const end = source.indexOf(lineFeed);
    const body = source.subarray(end + 1);
    if (end < 0 || source.toString('latin1', 0, end) !== `${magic} ${sha256(body)}`) return null;
    const headEnd = body.indexOf(lineFeed);
    const head = parseJson(body.subarray(0, headEnd));
    if (!isHead(head) || head.header !== header || !(await isThere(journal, head))) return null;
    // The header is no line of the view's.
    const view = new LiveJournalView({ ...head, lines: head.lines - 1, leftOut: leftOutOf(head) });
    const lines = body
      .toString('utf8', headEnd + 1)
      .split('\n')
      .slice(0, -1);
    // Its hash was just checked: these are the lines that were written.
    for (const line of lines) view.restore(JSON.parse(line) as RestoredLine);
    return { view, place: head, kept: lines.length };
  }

  /** Atomic; the file is as it was where the disk takes nothing. */
  async write(
    view: LiveJournalView,
    place: Place,
    { lines, leftOut }: { lines: readonly RestoredLine[]; leftOut: LeftOut },
  ): Promise<void> {
    const { highest, ids, agents } = leftOut;
    const head: Head = {
      ...place,
      highest: view.highest,
      total: view.total,
      left_out: { highest, ids: Object.fromEntries(ids), agents: Object.fromEntries(agents) },
    };
    const body = Buffer.from([head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
    await writeAtomic(this.#fs, this.#file, Buffer.concat([Buffer.from(`${magic} ${sha256(body)}\n`), body]));
  }

  /** For when the journal itself is written anew. */
  async remove(): Promise<void> {
    try {
      await this.#fs.unlink(this.#file);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
}

/** Whether the journal begins and goes on as it did when the snapshot was made. */
async function isThere(journal: FsFile, { header, bytes, tail }: Place): Promise<boolean> {
  const first = Buffer.from(`${header}\n`);
  const last = Buffer.from(tail);
  if (last.length === 0 || last.at(-1) !== lineFeed || bytes < last.length) return false;
  const [begin, end] = [await journal.read(0, first.length), await journal.read(bytes - last.length, last.length)];
  return first.equals(begin) && last.equals(end);
}

function leftOutOf({ left_out: { highest, ids, agents } }: Head): LeftOut {
  // The names were checked with the head.
  return {
    highest,
    ids: new Map(Object.entries(ids) as [Handle, Ulid][]),
    agents: new Map(Object.entries(agents) as [AgentKey, Ulid][]),
  };
}
