import type { Handle, Oid, Ulid } from '../domain/ids.js';
import type { JournalLine } from './journal-line.js';
import type { JournalEntry, JournalView, MessageEntry } from './ports.js';

type Entries<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>[];

/** The journal in memory; it grows as lines are added. */
export class LiveJournalView implements JournalView {
  highest = 0;
  readonly messages: MessageEntry[] = [];
  readonly pushed: Entries<'pushed'> = [];
  readonly receipts: Entries<'receipt'> = [];
  readonly acked: Entries<'acked'> = [];
  readonly #byNumber = new Map<number, MessageEntry>();
  readonly #byId = new Map<Ulid, MessageEntry>();
  readonly #bySender = new Map<string, MessageEntry>();
  readonly #cursors = new Map<Handle, { commit: Oid; seq: number }>();

  /** The reason why a line cannot be taken in, which then changes nothing; null when it was. */
  add(line: JournalLine): string | null {
    switch (line.kind) {
      case 'message':
        return this.#addMessage(line);
      case 'cursor':
        this.#cursors.set(line.sender, { commit: line.commit, seq: line.seq });
        return null;
      case 'pushed':
        this.pushed.push(line);
        return null;
      case 'receipt':
        this.receipts.push(line);
        return null;
      case 'acked':
        this.acked.push(line);
        return null;
      case 'raise':
        this.highest = Math.max(this.highest, line.n);
        return null;
    }
  }

  byNumber(n: number): MessageEntry | undefined {
    return this.#byNumber.get(n);
  }

  byId(id: Ulid): MessageEntry | undefined {
    return this.#byId.get(id);
  }

  byIdFrom(sender: Handle, id: Ulid): MessageEntry | undefined {
    return this.#bySender.get(`${sender} ${id}`);
  }

  cursor(sender: Handle): { commit: Oid; seq: number } | undefined {
    return this.#cursors.get(sender);
  }

  #addMessage(line: MessageEntry): string | null {
    const key = `${line.sender} ${line.id}`;
    if (this.#byNumber.has(line.n)) return `message number ${line.n} was given before`;
    if (this.#bySender.has(key)) return `message ${line.id} of ${line.sender} is there before`;
    this.highest = Math.max(this.highest, line.n);
    this.messages.push(line);
    this.#byNumber.set(line.n, line);
    this.#bySender.set(key, line);
    if (!this.#byId.has(line.id)) this.#byId.set(line.id, line);
    return null;
  }
}
