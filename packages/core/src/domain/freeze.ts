import type { EpochMillis, Handle } from './ids.js';
import { toIso } from './ids.js';
import type { MessageFacts } from './journal-facts.js';
import { believedExpiry, believedSentAt, hasExpired, lookTime } from './message-life.js';
import type { MessageType } from './records.js';
import type { FreezeView } from './results.js';
import { ulidTime } from './ulid.js';

/** The beginning of the year 9999, with a year left for what comes later. */
const endOfTime = Date.UTC(9999, 0, 1);

/**
 * The freezes in force now, oldest first: those sent that have not expired and that no clear among `entries` clears.
 * `entries` must be what reached one machine; given `machine`, what is addressed to others (own messages stand in the
 * journal too) is left out here. Freezes of revoked machines are left out by the caller.
 */
export function freezesInForce(entries: readonly MessageFacts[], now: EpochMillis, machine?: Handle): FreezeView[] {
  const time = lookTime(now);
  const reached = machine === undefined ? entries : entries.filter(({ to }) => to === '*' || to === machine);
  const clears = reached.filter(({ type }) => type === 'freeze-clear');
  return reached
    .filter((entry) => entry.type === 'freeze' && !hasExpired(entry, time))
    .filter((freeze) => !clears.some((clear) => clearsFreeze(clear, freeze)))
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map((entry) => freezeView(entry, now));
}

/** True where the freeze holds `repo`: it names no repo, or this one. Null asks for a freeze of everything or anything. */
export function coversRepo(freeze: Pick<FreezeView, 'repo'>, repo: string | null): boolean {
  return freeze.repo === null || repo === null || freeze.repo === repo;
}

/**
 * True where `clear` ends `freeze`: it names the freeze's id (in whatever order the two arrived or were made), or it is
 * later by ULID and has the same repo. That the clear itself may have expired does not matter.
 */
export function clearsFreeze(clear: MessageFacts, freeze: MessageFacts): boolean {
  if (clear.type !== 'freeze-clear' || freeze.type !== 'freeze') return false;
  if (clear.in_reply_to === freeze.id) return true;
  return clear.repo !== null && clear.repo === freeze.repo && clear.id > freeze.id;
}

/**
 * The latest time that a new freeze's or freeze-clear's ULID must lie above so that it is the later one of what its
 * sender has seen of the same repo: a clear ends every such freeze, and no earlier clear ends a new freeze, whatever
 * the clocks of their senders said. Null where there is nothing such. A ULID at the very end of time leaves nothing
 * above it and is passed over: such a freeze is cleared by its id.
 */
export function laterThan(
  entries: readonly Pick<MessageFacts, 'id' | 'type' | 'repo'>[],
  { type, repo }: { type: MessageType; repo: string | null },
): EpochMillis | null {
  if (repo === null || (type !== 'freeze' && type !== 'freeze-clear')) return null;
  const other = type === 'freeze' ? 'freeze-clear' : 'freeze';
  const times = entries.filter((entry) => entry.type === other && entry.repo === repo).map(({ id }) => ulidTime(id));
  const latest = times.filter((time) => time < endOfTime).reduce((a, b) => Math.max(a, b), -Infinity);
  return latest === -Infinity ? null : latest;
}

function freezeView(entry: MessageFacts, now: EpochMillis): FreezeView {
  return {
    message_id: entry.n,
    id: entry.id,
    machine: entry.sender,
    agent: entry.agent,
    repo: entry.repo,
    reason: entry.reason,
    since: toIso(believedSentAt(entry, now)),
    expires_at: toIso(believedExpiry(entry, now)),
  };
}
