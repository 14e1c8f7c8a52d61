import { createHash } from 'node:crypto';
import type { AuditEvent } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { auditData } from './audit-data.js';
import { auditPage } from './audit-page.js';

const now = Date.parse('2026-12-02T12:00:00.000Z');
const minute = 60_000;

/** The brands are the parsers' to give. */
const event = (change: object): AuditEvent =>
  ({
    event: 'send',
    commit: 'a'.repeat(40),
    at: new Date(now).toISOString(),
    machine: 'studio',
    agent: 'boss',
    subject: 'send note',
    signature: 'good',
    ids: [],
    repo: null,
    expires_at: null,
    in_reply_to: null,
    ...change,
  }) as unknown as AuditEvent;

const freeze = (id: string, at: number, change: object = {}): AuditEvent =>
  event({ type: 'freeze', ids: [id], at: new Date(at).toISOString(), expires_at: new Date(at + 60 * minute).toISOString(), repo: 'shop', ...change }); // prettier-ignore
const clear = (id: string, at: number, change: object): AuditEvent =>
  event({ type: 'freeze-clear', ids: [id], at: new Date(at).toISOString(), ...change });

describe('the audit page', () => {
  const hostile = '</script><img src=x onerror=alert(1)><!--\u2028 & "quoted" \u202e\u200b\u{e0041}\u009b';

  it('holds hostile text as data that ends no element, and shows it as it was', async () => {
    const facts = { mesh: '<b>team</b>', machine: 'studio', madeAt: '2026-12-02T12:00:00.000Z' };
    const page = await auditPage(auditData([event({ subject: hostile })], now), facts);
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<b>');
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page).not.toMatch(/[\u2028\u202e\u200b\u{e0041}\u009b]/u);
    const data = /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page)?.[1] ?? '';
    expect((JSON.parse(data) as { events: AuditEvent[] }).events[0]?.subject).toBe(hostile);
  });

  it('runs its own script alone and asks for nothing from anywhere', async () => {
    const page = await auditPage(auditData([], now), { mesh: 'm', machine: 'studio', madeAt: 'now' });
    const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(page).toContain(`content="default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}"`);
    expect(page).not.toMatch(/\b(?:https?:)?\/\/[a-z]|\bsrc=|\bhref=|url\(|@import|innerHTML|\beval\b/);
  });
});

describe('a freeze’s band', () => {
  it('ends with the clear that names it or is later and of its repository, else with its life', () => {
    const [a, b, c] = ['01A', '01B', '01C'];
    const at = (n: number): number => now + n * minute;
    const bands = (...events: AuditEvent[]) => auditData(events, now).freezes;
    expect(bands(freeze(a, at(0)))).toEqual([{ from: at(0), to: at(60) }]);
    expect(bands(freeze(a, at(0)), clear(b, at(5), { in_reply_to: a }))).toEqual([{ from: at(0), to: at(5) }]);
    expect(bands(freeze(b, at(0)), clear(c, at(7), { repo: 'shop' }))).toEqual([{ from: at(0), to: at(7) }]);
    expect(bands(freeze(b, at(0)), clear(a, at(7), { repo: 'shop' }))).toEqual([{ from: at(0), to: at(60) }]);
    expect(bands(freeze(b, at(0)), clear(c, at(7), { repo: 'site' }))).toEqual([{ from: at(0), to: at(60) }]);
  });

  it('is one with those that overlap it', () => {
    const bands = auditData(
      [freeze('01A', now), freeze('01B', now + 30 * minute), freeze('01C', now + 200 * minute)],
      now,
    );
    expect(bands.freezes).toEqual([
      { from: now, to: now + 90 * minute },
      { from: now + 200 * minute, to: now + 260 * minute },
    ]);
  });
});
