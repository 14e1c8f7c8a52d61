import type { EpochMillis, Handle } from './ids.js';
import { toIso } from './ids.js';
import type { MessageFacts } from './journal-facts.js';
import { believedExpiry, believedSentAt, hasExpired } from './message-life.js';
import type { FreezeView } from './results.js';

/**
 * The freezes in force now, oldest first: those sent that have not expired and that no clear among `entries` clears.
 * `entries` must be what reached one machine; given `machine`, what is addressed to others (own messages stand in the
 * journal too) is left out here. Freezes of revoked machines are left out by the caller.
 */
export function freezesInForce(entries: readonly MessageFacts[], now: EpochMillis, machine?: Handle): FreezeView[] {
  const time = { now, nowIso: toIso(now) };
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
