import type { AgentKey, Handle, IsoTime, Ulid } from '../domain/ids.js';
import { nothingLeftOut } from './journal-left-out.js';
import type { LeftOut } from './journal-left-out.js';
import type { JournalLine } from './journal-line.js';
import type { JournalEntry, JournaledTip, JournalView, MessageEntry } from './ports.js';

type Entries<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>[];

/** A tip with its sender; what was timed by this machine's clock stands in one list. */
export type TimedTip = JournaledTip & { kind: 'cursor'; sender: Handle };

/** What a view begins with that was made of a part of the journal. */
export interface ViewBase {
  highest: number;
  lines: number;
  total: number;
  leftOut: LeftOut;
}

const empty: ViewBase = { highest: 0, lines: 0, total: 0, leftOut: nothingLeftOut };

/** The journal in memory; it grows as lines are added. */
export class LiveJournalView implements JournalView {
  highest: number;
  lines: number;
  total: number;
  readonly leftOut: LeftOut;
  readonly messages: MessageEntry[] = [];
  readonly pushed: Entries<'pushed'> = [];
  readonly receipts: Entries<'receipt'> = [];
  readonly acked: Entries<'acked'> = [];
  readonly #byNumber = new Map<number, MessageEntry>();
  readonly #byId = new Map<Ulid, MessageEntry>();
  readonly #bySender = new Map<Handle, Map<Ulid, MessageEntry>>();
  readonly #tips = new Map<Handle, JournaledTip[]>();
  /** What was timed by this machine's clock, in the order of the file. */
  readonly #timed: (MessageEntry | TimedTip)[] = [];

  constructor(base: ViewBase = empty) {
    this.highest = base.highest;
    this.lines = base.lines;
    this.total = base.total;
    this.leftOut = base.leftOut;
  }

  get timed(): readonly (MessageEntry | TimedTip)[] {
    return this.#timed;
  }

  /** The reason why a line cannot be taken in, which then changes nothing; null when it was. */
  add(line: JournalLine): string | null {
    this.lines += 1;
    switch (line.kind) {
      case 'message':
        return this.#addMessage(line);
      case 'cursor':
        this.#limitEarlier(line.at);
        this.#addTip({ kind: line.kind, sender: line.sender, commit: line.commit, seq: line.seq, at: line.at });
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

  /** Takes in what another view held, in its order, as it stood there. */
  restore(line: RestoredLine): void {
    switch (line.kind) {
      case 'message':
        this.#keep(line);
        return;
      case 'cursor':
        this.#addTip(line);
        return;
      case 'pushed':
        this.pushed.push(line);
        return;
      case 'receipt':
        this.receipts.push(line);
        return;
      case 'acked':
        this.acked.push(line);
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

  mayLack(reference: number | Ulid, sender?: Handle): boolean {
    if (typeof reference === 'number') return reference <= this.leftOut.highest;
    const { ids } = this.leftOut;
    const last = sender === undefined ? [...ids.values()].reduce((a, b) => (a < b ? b : a), '') : ids.get(sender);
    return last !== undefined && reference <= last;
  }

  lastLeftOut(own: Handle, agent: AgentKey | null): Ulid | undefined {
    return agent === null ? this.leftOut.ids.get(own) : this.leftOut.agents.get(agent);
  }

  cursor(sender: Handle): JournaledTip | undefined {
    return this.#tips.get(sender)?.at(-1);
  }

  tips(sender: Handle): readonly JournaledTip[] {
    return this.#tips.get(sender) ?? [];
  }

  #addTip(tip: TimedTip): void {
    const known = this.#tips.get(tip.sender);
    if (known === undefined) this.#tips.set(tip.sender, [tip]);
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
    if (message === undefined) return this.mayLack(id) ? null : `message ${id} was never there`;
    message.seq = seq;
    return null;
  }

  #addMessage(line: MessageEntry): string | null {
    if (this.#byNumber.has(line.n)) return `message number ${line.n} was given before`;
    if (this.byIdFrom(line.sender, line.id) !== undefined) {
      return `message ${line.id} of ${line.sender} is there before`;
    }
    this.highest = Math.max(this.highest, line.n);
    this.total += 1;
    this.#limitEarlier(line.at);
    this.#keep(line);
    return null;
  }

  #keep(line: MessageEntry): void {
    const ofSender = this.#bySender.get(line.sender) ?? new Map<Ulid, MessageEntry>();
    this.#timed.push(line);
    this.messages.push(line);
    this.#byNumber.set(line.n, line);
    ofSender.set(line.id, line);
    if (ofSender.size === 1) this.#bySender.set(line.sender, ofSender);
    if (!this.#byId.has(line.id)) this.#byId.set(line.id, line);
  }
}

/** A line of a snapshot. */
export type RestoredLine =
  MessageEntry | TimedTip | Extract<JournalEntry, { kind: 'pushed' } | { kind: 'receipt' } | { kind: 'acked' }>;
