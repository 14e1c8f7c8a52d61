import type { Handle, Ulid } from '../domain/ids.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { Store } from '../store/store.js';

type Reference = number | Ulid;

/**
 * The journal in which a message that is named here is found if it ever was: `journal` itself but for an old one that is
 * left out of it. `sender` where it is known.
 */
export async function recalling(
  store: Store,
  journal: JournalView,
  reference: Reference,
  sender?: Handle,
): Promise<JournalView> {
  return new OldMessages(store, journal).viewFor(sender, reference);
}

/** The message itself; undefined where it never was here. */
export async function recalled(
  store: Store,
  journal: JournalView,
  reference: Reference,
  sender?: Handle,
): Promise<MessageEntry | undefined> {
  return new OldMessages(store, journal).find(sender, reference);
}

/** The same for many, of which hardly one is old: the journal is read whole once at most. */
export class OldMessages {
  readonly #store: Store;
  readonly #journal: JournalView;
  #whole: JournalView | null = null;

  constructor(store: Store, journal: JournalView) {
    this.#store = store;
    this.#journal = journal;
  }

  /** The view to look for a message in. */
  async viewFor(sender: Handle | undefined, reference: Reference): Promise<JournalView> {
    const journal = this.#journal;
    if (findIn(journal, sender, reference) !== undefined || !journal.mayLack(reference, sender)) return journal;
    this.#whole ??= await this.#store.journal.whole();
    return this.#whole;
  }

  async find(sender: Handle | undefined, reference: Reference): Promise<MessageEntry | undefined> {
    return findIn(await this.viewFor(sender, reference), sender, reference);
  }
}

function findIn(journal: JournalView, sender: Handle | undefined, reference: Reference): MessageEntry | undefined {
  if (typeof reference === 'number') return journal.byNumber(reference);
  return sender === undefined ? journal.byId(reference) : journal.byIdFrom(sender, reference);
}
