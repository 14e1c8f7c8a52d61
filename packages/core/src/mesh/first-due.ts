import type { EpochMillis } from '../domain/ids.js';
import { firstMessageDue } from '../domain/message-prune.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';

const hourMs = 3_600_000;

interface Known {
  /** A clock that was set back since something was journaled moves the end of it, by the time of the look. */
  hour: number;
  /** The journal's own list, which grows; another one may say anything. */
  list: JournalView['messages'];
  messages: number;
  acked: number;
  first: EpochMillis;
}

/**
 * Before which time no own message has to leave the tip. Looks at what the journal got since the last time, and at all
 * messages once an hour, once that time has come, and where a freeze was cleared.
 */
export class FirstDue {
  #known: Known | null = null;

  async get(
    { branch, journal, now }: { branch: Branch; journal: JournalView; now: EpochMillis },
    inTip: () => Promise<readonly MessageEntry[]>,
  ): Promise<EpochMillis> {
    const hour = Math.floor(now / hourMs);
    const known = this.#known;
    const { messages, acked } = journal;
    const since = known !== null && known.list === messages && known.hour === hour ? known : null;
    const first =
      since === null ? null : Math.min(since.first, added(since, { branch, journal, now }) ?? Number.NEGATIVE_INFINITY);
    const sure = first !== null && now < first ? first : firstMessageDue({ own: await inTip(), journal, now });
    this.#known = { hour, list: messages, messages: messages.length, acked: acked.length, first: sure };
    return sure;
  }
}

/** The first of what was added, or acknowledged since, is due; null where that may have moved what was there before. */
function added(
  since: Known,
  { branch, journal, now }: { branch: Branch; journal: JournalView; now: EpochMillis },
): EpochMillis | null {
  const messages = journal.messages.slice(since.messages);
  if (messages.some(({ type }) => type === 'freeze-clear')) return null;
  const acked = journal.acked.slice(since.acked);
  const own = new Set(messages.filter(({ sender }) => sender === branch.handle));
  for (const { id } of acked) {
    const entry = journal.byIdFrom(branch.handle, id);
    if (entry !== undefined) own.add(entry);
  }
  return firstMessageDue({ own: [...own], journal: { messages: journal.messages, acked }, now });
}
