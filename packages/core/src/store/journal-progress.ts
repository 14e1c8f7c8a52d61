import { decodeLine, encodeLine } from './journal-line.js';
import type { JournalLine } from './journal-line.js';
import { LiveJournalView } from './journal-view.js';
import type { JournalDamage } from './ports.js';

/** What was read of one file. */
export interface Progress {
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
  /** The snapshot that the reading began with, and the lines that it stood for and held. */
  begun: { snapshot: string | null; lines: number; kept: number };
}

export const nothing = (): Progress => ({
  view: new LiveJournalView(),
  damage: [],
  inode: -1,
  offset: 0,
  lines: 0,
  sound: 0,
  tail: Buffer.alloc(0),
  size: -1,
  mtimeMs: -1,
  begun: { snapshot: null, lines: 0, kept: 0 },
});

/** So many lines after a snapshot are worth another one, or half as many as it holds where that is more. */
const worthSettling = 300;

export function isLong({ begun, lines }: Progress): boolean {
  return lines - begun.lines >= Math.max(worthSettling, begun.kept / 2);
}

/** What we could not read again must not be written. */
export function encodeChecked(line: JournalLine): string {
  const encoded = encodeLine(line);
  const read = decodeLine(Buffer.from(encoded.slice(0, -1)));
  if (read.kind === 'damaged') throw new Error(`a wrong ${line.kind} was to be put into the journal: ${read.reason}`);
  return encoded;
}
