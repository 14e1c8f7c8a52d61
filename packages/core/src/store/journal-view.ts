import type { Handle, IsoTime, Ulid } from '../domain/ids.js';
import type { JournalLine } from './journal-line.js';
import type { JournalEntry, JournaledTip, JournalView, MessageEntry } from './ports.js';

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
  readonly #bySender = new Map<Handle, Map<Ulid, MessageEntry>>();
  readonly #tips = new Map<Handle, JournaledTip[]>();
  /** What was timed by this machine's clock, in the order of the file. */
  readonly #timed: (MessageEntry | JournaledTip)[] = [];

  /** The reason why a line cannot be taken in, which then changes nothing; null when it was. */
  add(line: JournalLine): string | null {
    switch (line.kind) {
      case 'message':
        return this.#addMessage(line);
      case 'cursor':
        this.#addTip(line);
        return null;
      case 'pushed':
        this.pushed.push(line);
        this.#limitEarlier(line.at);
        return null;
      case 'receipt':
        this.receipts.push(line);
        return null;
      case 'moved':
        return this.#moveMessage(line);
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
    return this.#bySender.get(sender)?.get(id);
  }

  cursor(sender: Handle): JournaledTip | undefined {
    return this.#tips.get(sender)?.at(-1);
  }

  tips(sender: Handle): readonly JournaledTip[] {
    return this.#tips.get(sender) ?? [];
  }

  #addTip({ sender, commit, seq, at }: Entries<'cursor'>[number]): void {
    this.#limitEarlier(at);
    const tip: JournaledTip = { commit, seq, at };
    const known = this.#tips.get(sender);
    if (known === undefined) this.#tips.set(sender, [tip]);
    else known.push(tip);
    this.#timed.push(tip);
  }

  /**
   * What came before cannot be later than what comes now: where it says so, the clock was set back in between. Limits
   * only grow along the file, so the first one that is low enough ends the look back.
   */
  #limitEarlier(at: IsoTime): void {
    for (let i = this.#timed.length - 1; i >= 0; i--) {
      const earlier = this.#timed[i];
      if (earlier === undefined || (earlier.at_most ?? earlier.at) <= at) return;
      earlier.at_most = at;
    }
  }

  #moveMessage({ id, seq }: Entries<'moved'>[number]): string | null {
    // Only own messages move: their sender is the one whose commits are made here.
    const message = this.#byId.get(id);
    if (message === undefined) return `message ${id} was never there`;
    message.seq = seq;
    return null;
  }

  #addMessage(line: MessageEntry): string | null {
    const ofSender = this.#bySender.get(line.sender) ?? new Map<Ulid, MessageEntry>();
    if (this.#byNumber.has(line.n)) return `message number ${line.n} was given before`;
    if (ofSender.has(line.id)) return `message ${line.id} of ${line.sender} is there before`;
    this.highest = Math.max(this.highest, line.n);
    this.#limitEarlier(line.at);
    this.#timed.push(line);
    this.messages.push(line);
    this.#byNumber.set(line.n, line);
    ofSender.set(line.id, line);
    if (ofSender.size === 1) this.#bySender.set(line.sender, ofSender);
    if (!this.#byId.has(line.id)) this.#byId.set(line.id, line);
    return null;
  }
}
