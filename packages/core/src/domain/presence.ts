import type { EpochMillis, Handle, IsoTime } from './ids.js';
import { fromIso, toIso } from './ids.js';
import type { PresenceRecord } from './records.js';
import type { AgentView } from './results.js';
import { clockStepMs } from './skew.js';

/** Seconds of silence that a presence record may allow. */
export const ttlRange: { readonly min: 60; readonly max: 86_400 } = { min: 60, max: 86_400 };

const dayMs = 86_400_000;
const shortRoles: ReadonlySet<string> = new Set(['ping', 'verification']);

/** Seconds: 900 for agents that only look in, an hour for those that work. */
export function defaultTtl(role: string | null): number {
  return role !== null && shortRoles.has(role) ? 900 : 3600;
}

/**
 * When the agent's silence becomes too long: by its published record, or later where this machine saw it act since
 * (`lastActivityMs`, null elsewhere).
 */
export function effectiveExpiry(record: PresenceRecord, lastActivityMs: EpochMillis | null): EpochMillis {
  const published = fromIso(record.expires_at);
  return lastActivityMs === null ? published : Math.max(published, lastActivityMs + record.ttl_seconds * 1000);
}

/** True until the moment of expiry, which no longer counts. */
export function isAlive(record: PresenceRecord, now: EpochMillis, lastActivityMs: EpochMillis | null = null): boolean {
  return now < effectiveExpiry(record, lastActivityMs);
}

/**
 * Another machine's record as far as it is believed: it was seen here at `seenAt`, so what it tells happened no later,
 * and from then on its agent lives for its ttl at most. So no clock, wrong or lying, makes an entry immortal. Null where
 * it is not known when it was first seen: then a record of the future is one of an agent that is gone.
 */
export function believedRecord(
  record: PresenceRecord,
  { seenAt, now }: { seenAt: EpochMillis | null; now: EpochMillis },
): PresenceRecord {
  const lifeMs = record.ttl_seconds * 1000;
  const latest = seenAt ?? (isAhead(fromIso(record.last_activity_at), now) ? now - lifeMs : null);
  if (latest === null) return record;
  const noLater = (time: IsoTime): IsoTime => toIso(Math.min(fromIso(time), latest));
  return {
    ...record,
    status_since: record.status_since === null ? null : noLater(record.status_since),
    checked_in_at: noLater(record.checked_in_at),
    last_activity_at: noLater(record.last_activity_at),
    expires_at: toIso(Math.min(fromIso(record.expires_at), latest + lifeMs)),
  };
}

/** The record of a machine whose clock differs from ours, with its times by our clock: `ms` later. */
export function shiftedRecord(record: PresenceRecord, ms: number): PresenceRecord {
  const shifted = (time: IsoTime): IsoTime => toIso(fromIso(time) + ms);
  return {
    ...record,
    status_since: record.status_since === null ? null : shifted(record.status_since),
    checked_in_at: shifted(record.checked_in_at),
    last_activity_at: shifted(record.last_activity_at),
    expires_at: shifted(record.expires_at),
  };
}

/** True for a time of this machine's own that its clock has not reached yet: the clock was set back since. */
export function isAhead(at: EpochMillis, now: EpochMillis): boolean {
  return at > now + clockStepMs;
}

interface Activity {
  record: PresenceRecord;
  /** This machine's own knowledge; null where the agent did nothing since the record was written. */
  lastActivity: EpochMillis | null;
  now: EpochMillis;
}

/**
 * True when a renewal is worth a commit of its own: the agent acted since its record was published and less than
 * max(20 s, a quarter of the ttl) of the published life is left. Also for a record that was published by a clock which
 * was set back since: nobody else believes it for longer than its ttl, and here it would outlive its agent.
 */
export function renewalDue({ record, lastActivity, now }: Activity): boolean {
  if (isAhead(fromIso(record.last_activity_at), now)) return true;
  if (!actedSince(record, lastActivity) || !isAlive(record, now, lastActivity)) return false;
  const left = fromIso(record.expires_at) - now;
  return left < Math.max(20_000, record.ttl_seconds * 250);
}

/** True when a renewal goes along with a commit that is made anyway: a tenth of the ttl has passed in activity. */
export function rideAlong({ record, lastActivity, now }: Activity): boolean {
  if (lastActivity === null || !isAlive(record, now, lastActivity)) return false;
  return lastActivity - fromIso(record.last_activity_at) >= record.ttl_seconds * 100;
}

/**
 * The record with its activity brought up to `lastActivity`; unknown keys stay. A record of the future is brought back
 * to the last activity, or to now where there was none since.
 */
export function renewedRecord(
  record: PresenceRecord,
  { lastActivity, now }: { lastActivity: EpochMillis | null; now: EpochMillis },
): PresenceRecord {
  const published = fromIso(record.last_activity_at);
  const at = isAhead(published, now) ? (lastActivity ?? now) : Math.max(lastActivity ?? published, published);
  return { ...record, last_activity_at: toIso(at), expires_at: toIso(at + record.ttl_seconds * 1000) };
}

/** True a day after expiry, when the owner takes the record out of its tip. */
export function presencePruneDue(
  record: PresenceRecord,
  now: EpochMillis,
  lastActivityMs: EpochMillis | null = null,
): boolean {
  return now >= effectiveExpiry(record, lastActivityMs) + dayMs;
}

/** The record as agents_list and agent_checkin show it; `lastActivity` is null for other machines' agents. */
export function agentView(
  record: PresenceRecord,
  machine: Handle,
  now: EpochMillis,
  lastActivity: EpochMillis | null,
): AgentView {
  const shown = actedSince(record, lastActivity) ? renewedRecord(record, { lastActivity, now }) : record;
  const since = record.status_since;
  return {
    agent_id: record.agent,
    machine,
    role: record.role,
    repo: record.repo,
    caps: [...record.caps],
    status: record.status,
    status_since: since,
    // Another machine's clock may run ahead of ours: an age is never negative.
    status_age_s: since === null ? null : Math.max(0, Math.floor((now - fromIso(since)) / 1000)),
    checked_in_at: record.checked_in_at,
    last_activity_at: shown.last_activity_at,
    expires_at: shown.expires_at,
    ttl_seconds: record.ttl_seconds,
    alive: isAlive(record, now, lastActivity),
  };
}

function actedSince(record: PresenceRecord, lastActivity: EpochMillis | null): lastActivity is EpochMillis {
  return lastActivity !== null && lastActivity > fromIso(record.last_activity_at);
}
