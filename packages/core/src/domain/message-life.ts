import type { EpochMillis, IsoTime } from './ids.js';
import { fromIso, toIso } from './ids.js';
import type { MessageFacts } from './journal-facts.js';

/** The longest that a message may live: 30 days. */
export const longestLifeMs = 2_592_000_000;

/** What tells how long a message is believed to live. */
export type LifeFacts = Pick<MessageFacts, 'sent_at' | 'expires_at' | 'at' | 'at_most' | 'behind_ms'>;

/**
 * When it arrived here. Where that lies in the future of `now`, this machine's clock was set back since (it ran ahead
 * then, or is behind now): the earliest time at which anything was journaled after it is believed instead.
 */
export function arrivedAt({ at, at_most: atMost }: Pick<LifeFacts, 'at' | 'at_most'>, now: EpochMillis): EpochMillis {
  const arrived = fromIso(at);
  return arrived <= now || atMost === undefined ? arrived : Math.min(arrived, fromIso(atMost));
}

/** Nothing is sent after it arrived: a sender's clock that runs ahead is not believed further than that. */
export function believedSentAt(facts: LifeFacts, now: EpochMillis): EpochMillis {
  return Math.min(fromIso(facts.sent_at) + (facts.behind_ms ?? 0), arrivedAt(facts, now));
}

/**
 * When a message's life is over for this machine: never later than its sender says (by a clock that is not proven to be
 * behind: then that is made up for), never longer after it was sent than
 * the limit allows, and never longer after it arrived than the life that its sender gave it. So the clock of a sender,
 * wrong or lying, can make nothing live for years.
 */
export function believedExpiry(facts: LifeFacts, now: EpochMillis): EpochMillis {
  const behindMs = facts.behind_ms ?? 0;
  const sent = fromIso(facts.sent_at) + behindMs;
  const expires = fromIso(facts.expires_at) + behindMs;
  const lifeMs = Math.min(Math.max(0, expires - sent), longestLifeMs);
  return Math.min(expires, Math.min(sent, arrivedAt(facts, now)) + lifeMs);
}

/** A time as {@link hasExpired} compares it with thousands of messages': as text, which costs no reading of theirs. */
export interface LookTime {
  now: EpochMillis;
  nowIso: IsoTime;
  /** The longest life before it. */
  lifeAgoIso: IsoTime;
}

export function lookTime(now: EpochMillis): LookTime {
  return { now, nowIso: toIso(now), lifeAgoIso: toIso(Math.max(0, now - longestLifeMs)) };
}

/** True from the moment of expiry on. */
export function hasExpired(facts: LifeFacts, { now, nowIso, lifeAgoIso }: LookTime): boolean {
  if (facts.behind_ms === undefined) {
    if (facts.expires_at <= nowIso) return true;
    // Sent before it arrived, arrived before now, and its life within the limit wherever it began.
    if (facts.sent_at <= facts.at && facts.at <= nowIso && facts.sent_at > lifeAgoIso) return false;
  }
  return now >= believedExpiry(facts, now);
}
