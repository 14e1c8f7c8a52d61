import type { EpochMillis, Handle } from './ids.js';
import { fromIso, toIso } from './ids.js';
import type { PresenceRecord } from './records.js';
import type { AgentView } from './results.js';

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

interface Activity {
  record: PresenceRecord;
  /** This machine's own knowledge; null where the agent did nothing since the record was written. */
  lastActivity: EpochMillis | null;
  now: EpochMillis;
}

/**
 * True when a renewal is worth a commit of its own: the agent acted since its record was published and less than
 * max(20 s, a quarter of the ttl) of the published life is left.
 */
export function renewalDue({ record, lastActivity, now }: Activity): boolean {
  if (!actedSince(record, lastActivity) || !isAlive(record, now, lastActivity)) return false;
  const left = fromIso(record.expires_at) - now;
  return left < Math.max(20_000, record.ttl_seconds * 250);
}

/** True when a renewal goes along with a commit that is made anyway: a tenth of the ttl has passed in activity. */
export function rideAlong({ record, lastActivity, now }: Activity): boolean {
  if (lastActivity === null || !isAlive(record, now, lastActivity)) return false;
  return lastActivity - fromIso(record.last_activity_at) >= record.ttl_seconds * 100;
}

/** The record with its activity brought up to `lastActivity`; unknown keys stay. */
export function renewedRecord(record: PresenceRecord, lastActivity: EpochMillis): PresenceRecord {
  const at = Math.max(lastActivity, fromIso(record.last_activity_at));
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
  const shown = actedSince(record, lastActivity) ? renewedRecord(record, lastActivity) : record;
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
