import { describe, expect, it } from 'vitest';
import type { AgentId, Handle } from './ids.js';
import { fromIso, toIso } from './ids.js';
import {
  agentView,
  believedRecord,
  defaultTtl,
  effectiveExpiry,
  isAlive,
  presencePruneDue,
  renewalDue,
  renewedRecord,
  rideAlong,
} from './presence.js';
import type { PresenceRecord } from './records.js';

const start = fromIso('2026-12-02T05:00:00.000Z');
const second = 1000;
const record = (ttl: number): PresenceRecord => ({
  agent: 'builder' as AgentId,
  role: null,
  repo: null,
  caps: [],
  status: 'x',
  status_since: toIso(start),
  checked_in_at: toIso(start),
  last_activity_at: toIso(start),
  expires_at: toIso(start + ttl * second),
  ttl_seconds: ttl,
});
const at = (s: number): number => start + s * second;

describe('presence', () => {
  it('has a ttl by role', () => {
    expect(['ping', 'verification', 'builder', null].map(defaultTtl)).toEqual([900, 900, 3600, 3600]);
  });

  it('ends at the very moment of expiry, and later where there was activity here', () => {
    expect(isAlive(record(60), at(60) - 1)).toBe(true);
    expect(isAlive(record(60), at(60))).toBe(false);
    expect(isAlive(record(60), at(89), at(30))).toBe(true);
    expect(isAlive(record(60), at(90), at(30))).toBe(false);
    expect(effectiveExpiry(record(60), at(-30))).toBe(at(60));
  });

  it.each([
    // ttl, last activity, now, due
    [3600, 100, 2699, false],
    [3600, 100, 2700, false],
    [3600, 100, 2701, true],
    [3600, 100, 3650, true],
    [3600, 100, 3700, false],
    [3600, null, 2701, false],
    [3600, 0, 2701, false],
    [60, 5, 39, false],
    [60, 5, 40, false],
    [60, 5, 41, true],
    [60, 5, 65, false],
  ])('with ttl %i, activity at %s: a renewal at %i is due: %s', (ttl, active, now, due) => {
    expect(renewalDue({ record: record(ttl), lastActivity: active === null ? null : at(active), now: at(now) })).toBe(
      due,
    );
  });

  it.each([
    [3600, 359, 360, false],
    [3600, 360, 360, true],
    [3600, null, 3000, false],
    [3600, 360, 3960, false],
    [60, 6, 7, true],
  ])('with ttl %i, activity at %s: a renewal rides along at %i: %s', (ttl, active, now, due) => {
    expect(rideAlong({ record: record(ttl), lastActivity: active === null ? null : at(active), now: at(now) })).toBe(
      due,
    );
  });

  it('is never seen dead elsewhere while its silence is within its ttl, if what is due is committed within 20 s', () => {
    for (const ttl of [60, 900, 3600, 86_400]) {
      for (const gap of [1, ttl / 3, ttl * 0.74, ttl * 0.99]) {
        let published = record(ttl);
        let active = start;
        for (let now = start; now < start + ttl * 5000; now += 5 * second) {
          if (now >= active + gap * second) active = now;
          if (renewalDue({ record: published, lastActivity: active, now }))
            published = renewedRecord(published, { lastActivity: active, now });
          expect(isAlive(published, now, null)).toBe(true);
        }
      }
    }
  });

  it('is taken out of the tip a day after expiry', () => {
    expect(presencePruneDue(record(60), at(60 + 86_399))).toBe(false);
    expect(presencePruneDue(record(60), at(60 + 86_400))).toBe(true);
    expect(presencePruneDue(record(60), at(60 + 86_400), at(1))).toBe(false);
  });

  it('is shown with its age, and with what only this machine knows', () => {
    const view = agentView(record(60), 'studio' as Handle, at(70) + 999, at(20));
    expect(view).toMatchObject({
      machine: 'studio',
      status_age_s: 70,
      alive: true,
      last_activity_at: toIso(at(20)),
      expires_at: toIso(at(80)),
    });
    expect(agentView(record(60), 'studio' as Handle, at(-10), null)).toMatchObject({ status_age_s: 0, alive: true });
    expect(
      agentView({ ...record(60), status: null, status_since: null }, 'studio' as Handle, at(70), null),
    ).toMatchObject({ status_age_s: null, alive: false });
  });

  it('is believed for its ttl after it was first seen, whatever it claims', () => {
    const ahead = { ...record(60), last_activity_at: toIso(at(900)), expires_at: toIso(at(960)) };
    expect(believedRecord(ahead, { seenAt: at(5), now: at(20) })).toMatchObject({
      status_since: toIso(at(0)),
      last_activity_at: toIso(at(5)),
      expires_at: toIso(at(65)),
    });
    const sane = record(60);
    expect(believedRecord(sane, { seenAt: at(5), now: at(20) })).toEqual(sane);
    expect(believedRecord(sane, { seenAt: null, now: at(20) })).toBe(sane);
    expect(isAlive(believedRecord(ahead, { seenAt: null, now: at(20) }), at(20))).toBe(false);
  });

  it('of the future is due at once, active or not, and is brought back', () => {
    const ahead = { ...record(60), last_activity_at: toIso(at(900)), expires_at: toIso(at(960)) };
    for (const lastActivity of [null, at(10)]) {
      expect(renewalDue({ record: ahead, lastActivity, now: at(20) })).toBe(true);
      expect(renewedRecord(ahead, { lastActivity, now: at(20) }).expires_at).toBe(
        toIso((lastActivity ?? at(20)) + 60 * second),
      );
    }
  });
});
