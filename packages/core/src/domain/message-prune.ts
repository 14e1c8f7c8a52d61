import { clearsFreeze } from './freeze.js';
import type { EpochMillis } from './ids.js';
import { agentKey, fromIso } from './ids.js';
import type { AckFacts, MessageFacts } from './journal-facts.js';
import { arrivedAt, believedExpiry, longestLifeMs } from './message-life.js';
import { ulidTime } from './ulid.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface DueMessage<Entry extends MessageFacts> {
  entry: Entry;
  /** `expire` is a commit of its own that says `never acked`; `prune` goes along with others. */
  end: 'expire' | 'prune';
}

/**
 * Which own messages leave the tip now, oldest first: a day after they expired, or an hour after the agent they were
 * directed to acknowledged them. A freeze stays until it has been cleared or has expired; a clear stays as long as any
 * freeze that it clears may live, its own expiry notwithstanding.
 *
 * `own` are the messages that are still in the tip; `journal` is all that this machine knows.
 */
export function messagesDue<Entry extends MessageFacts>(options: {
  own: readonly Entry[];
  journal: { readonly messages: readonly MessageFacts[]; readonly acked: readonly AckFacts[] };
  now: EpochMillis;
}): DueMessage<Entry>[] {
  const { journal, now } = options;
  const due: DueMessage<Entry>[] = [];
  const acksById = groupById(journal.acked);
  for (const entry of options.own) {
    const acks = acksById.get(entry.id) ?? [];
    if (now < dueAt(entry, { acks, known: journal.messages, now })) continue;
    due.push({ entry, end: acks.length === 0 ? 'expire' : 'prune' });
  }
  return due.sort((a, b) => (a.entry.id < b.entry.id ? -1 : a.entry.id > b.entry.id ? 1 : 0));
}

/** When the first of `own` is due, if nothing more happens and the clock goes on; Infinity where there is none. */
export function firstMessageDue(options: {
  own: readonly MessageFacts[];
  journal: { readonly messages: readonly MessageFacts[]; readonly acked: readonly AckFacts[] };
  now: EpochMillis;
}): EpochMillis {
  const { own, journal, now } = options;
  const acksById = groupById(journal.acked);
  let first = Infinity;
  for (const entry of own) {
    first = Math.min(first, dueAt(entry, { acks: acksById.get(entry.id) ?? [], known: journal.messages, now }));
  }
  return first;
}

function groupById(acked: readonly AckFacts[]): Map<string, AckFacts[]> {
  const acksById = new Map<string, AckFacts[]>();
  for (const ack of acked) {
    const known = acksById.get(ack.id);
    if (known === undefined) acksById.set(ack.id, [ack]);
    else known.push(ack);
  }
  return acksById;
}

interface Surroundings {
  acks: readonly AckFacts[];
  known: readonly MessageFacts[];
  now: EpochMillis;
}

function dueAt(entry: MessageFacts, { acks, known, now }: Surroundings): EpochMillis {
  const expired = believedExpiry(entry, now) + dayMs;
  if (entry.type === 'freeze-clear') return Math.max(expiredOrRead(entry, acks, expired), freezeEnd(entry, known, now));
  if (entry.type === 'freeze' && !isCleared(entry, known)) return expired;
  return expiredOrRead(entry, acks, expired);
}

/** A directed message is done with an hour after its one reader has read it. */
function expiredOrRead(entry: MessageFacts, acks: readonly AckFacts[], expired: EpochMillis): EpochMillis {
  const reader = entry.to_agent;
  if (reader === null) return expired;
  const read = acks.find((ack) => ack.machine === entry.to && agentKey(ack.agent) === agentKey(reader));
  if (read === undefined) return expired;
  // The time is the other machine's claim: one before the message was sent does not shorten the hour.
  return Math.min(expired, Math.max(fromIso(read.at), fromIso(entry.sent_at)) + hourMs);
}

/** True where a clear reached every machine that the freeze was sent to. */
function isCleared(freeze: MessageFacts, known: readonly MessageFacts[]): boolean {
  return known.some((clear) => (clear.to === '*' || clear.to === freeze.to) && clearsFreeze(clear, freeze));
}

/** When the last freeze that `clear` may end is over, also where it arrives late and is believed for longer. */
function freezeEnd(clear: MessageFacts, known: readonly MessageFacts[], now: EpochMillis): EpochMillis {
  const ends = known
    .filter((freeze) => clearsFreeze(clear, freeze))
    .map((freeze) => {
      const lifeMs = Math.max(0, fromIso(freeze.expires_at) - fromIso(freeze.sent_at));
      // Where its sender's clock is behind, it is believed for longer than it says.
      const ends = Math.max(fromIso(freeze.expires_at), arrivedAt(freeze, now) + lifeMs);
      return Math.min(ends, arrivedAt(freeze, now) + longestLifeMs);
    });
  const named = clear.in_reply_to;
  if (named !== null && !known.some(({ id }) => id === named)) {
    // A freeze that never came here may still hold elsewhere, for at most a message's longest life.
    ends.push(Math.min(ulidTime(named), ulidTime(clear.id), arrivedAt(clear, now)) + longestLifeMs);
  }
  return Math.max(0, ...ends);
}
