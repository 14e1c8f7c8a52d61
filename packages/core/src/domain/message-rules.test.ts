import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coversRepo, freezesInForce, laterThan } from './freeze.js';
import type { AgentId, Handle, Ulid } from './ids.js';
import { toIso } from './ids.js';
import type { AckFacts, MessageFacts } from './journal-facts.js';
import { believedExpiry, believedSentAt, hasExpired, lookTime } from './message-life.js';
import { messagesDue } from './message-prune.js';
import { messageState } from './message-state.js';
import { nextUlid } from './ulid.js';

const start = Date.UTC(2026, 11, 2);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const studio = 'studio' as Handle;
const laptop = 'laptop' as Handle;
const desk = 'desk' as Handle;
const qa = 'qa' as AgentId;

/** A ULID of `minutes` after the start. */
const ulid = (minutes: number): Ulid =>
  nextUlid({ now: start + minutes * minute, random: (n) => new Uint8Array(n), last: null });

function message(minutes: number, given: Partial<MessageFacts> & { lifeMs?: number } = {}): MessageFacts {
  const { lifeMs = day, ...rest } = given;
  return {
    n: minutes + 1,
    id: ulid(minutes),
    sender: studio,
    agent: null,
    to: laptop,
    to_agent: null,
    type: 'note',
    sent_at: toIso(start + minutes * minute),
    expires_at: toIso(start + minutes * minute + lifeMs),
    at: toIso(start + minutes * minute),
    seq: minutes + 1,
    in_reply_to: null,
    repo: null,
    reason: null,
    ...rest,
  };
}
const freeze = (minutes: number, given: Parameters<typeof message>[1] = {}): MessageFacts =>
  message(minutes, { type: 'freeze', ...given });
const clear = (minutes: number, given: Parameters<typeof message>[1] = {}): MessageFacts =>
  message(minutes, { type: 'freeze-clear', ...given });

describe('a freeze', () => {
  const held = (entries: MessageFacts[], now = start + hour, machine?: Handle): Ulid[] =>
    freezesInForce(entries, now, machine).map((f) => f.id);

  it.each<[string, MessageFacts[], number[]]>([
    ['is in force once it is sent', [freeze(0)], [0]],
    ['is cleared by its id', [freeze(0, { repo: 'a' }), clear(1, { in_reply_to: ulid(0) })], []],
    ['is cleared by its id though the clear arrived first', [clear(1, { in_reply_to: ulid(0) }), freeze(0)], []],
    ['is cleared by its id though the clear’s clock was behind', [freeze(5), clear(1, { in_reply_to: ulid(5) })], []],
    ['is cleared by a later clear of its repo', [freeze(0, { repo: 'a' }), clear(1, { repo: 'a' })], []],
    [
      'is cleared by its repo from another machine',
      [freeze(0, { repo: 'a' }), clear(1, { repo: 'a', sender: desk })],
      [],
    ],
    ['is not cleared by an earlier clear of its repo', [freeze(2, { repo: 'a' }), clear(1, { repo: 'a' })], [2]],
    ['is not cleared by another repo', [freeze(0, { repo: 'a' }), clear(1, { repo: 'b' })], [0]],
    ['of all repos is not cleared by one repo', [freeze(0), clear(1, { repo: 'a' })], [0]],
    [
      'of one repo is not cleared by a reply to another',
      [freeze(0, { repo: 'a' }), clear(1, { in_reply_to: ulid(9) })],
      [0],
    ],
    [
      'is cleared by a clear that has expired itself',
      [freeze(0, { repo: 'a' }), clear(1, { repo: 'a', lifeMs: minute })],
      [],
    ],
    ['ends by itself', [freeze(0, { lifeMs: hour })], []],
    ['holds until its last millisecond', [freeze(0, { lifeMs: hour + 1 })], [0]],
    [
      'is not cleared by a note about it',
      [freeze(0, { repo: 'a' }), message(1, { repo: 'a', in_reply_to: ulid(0) })],
      [0],
    ],
    ['may be set again', [freeze(0, { repo: 'a' }), clear(1, { repo: 'a' }), freeze(2, { repo: 'a' })], [2]],
    ['stands beside others', [freeze(3, { repo: 'b' }), freeze(0, { repo: 'a' })], [0, 3]],
  ])('%s', (_, entries, expected) => {
    expect(held(entries)).toEqual(expected.map(ulid));
  });

  it('holds on the machines it was sent to, and so does its clear', () => {
    const entries = [freeze(0, { to: laptop }), freeze(1, { to: '*', repo: 'a' }), clear(2, { to: laptop, repo: 'a' })];
    expect(held(entries, start + hour, studio)).toEqual([ulid(1)]);
    expect(held(entries, start + hour, laptop)).toEqual([ulid(0)]);
    expect(held(entries, start + hour, desk)).toEqual([ulid(1)]);
  });

  it('does not depend on the order of arrival', () => {
    const repo = fc.constantFrom(null, 'a', 'b');
    const entry = fc.tuple(
      fc.boolean(),
      repo,
      fc.option(fc.integer({ min: 0, max: 9 })),
      fc.integer({ min: 1, max: 90 }),
    );
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 10 }),
        fc.array(fc.nat(1000), { minLength: 10, maxLength: 10 }),
        (list, keys) => {
          const entries = list.map(([isFreeze, r, reply, life], i) =>
            message(i, {
              type: isFreeze ? 'freeze' : 'freeze-clear',
              repo: r,
              in_reply_to: reply === null ? null : ulid(reply),
              lifeMs: life * minute,
            }),
          );
          const shuffled = entries
            .map((item, i) => ({ item, key: keys[i] ?? 0 }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item);
          expect(held(shuffled)).toEqual(held(entries));
          // Time and clears only ever end freezes.
          const now = held(entries);
          for (const id of held(entries, start + 2 * hour)) expect(now).toContain(id);
          const all = [...entries, ...entries.map((_, i) => clear(50 + i, { in_reply_to: ulid(i) }))];
          expect(held(all)).toEqual([]);
        },
      ),
    );
  });

  it('without a repo covers every repo', () => {
    expect(coversRepo({ repo: null }, 'a')).toBe(true);
    expect(coversRepo({ repo: 'a' }, 'a')).toBe(true);
    expect(coversRepo({ repo: 'a' }, 'b')).toBe(false);
    expect(coversRepo({ repo: 'a' }, null)).toBe(true);
  });
});

const ack = (id: Ulid, given: Partial<AckFacts> = {}): AckFacts => ({
  id,
  machine: laptop,
  agent: qa,
  at: toIso(start + hour),
  ...given,
});

describe('pruning of own messages', () => {
  const due = (own: MessageFacts[], now: number, acked: AckFacts[] = [], messages = own): [Ulid, string][] =>
    messagesDue({ own, journal: { messages, acked }, now }).map(({ entry, end }) => [entry.id, end]);

  it('waits a day after expiry, and says of what nobody read that it expired', () => {
    const note = message(0);
    expect(due([note], start + 2 * day - 1)).toEqual([]);
    expect(due([note], start + 2 * day)).toEqual([[note.id, 'expire']]);
    expect(due([note], start + 2 * day, [ack(note.id)])).toEqual([[note.id, 'prune']]);
  });

  it('takes out what was directed to one agent an hour after that agent read it', () => {
    const note = message(0, { to_agent: 'QA' as AgentId, lifeMs: 10 * day });
    expect(due([note], start + 2 * hour - 1, [ack(note.id)])).toEqual([]);
    expect(due([note], start + 2 * hour, [ack(note.id)])).toEqual([[note.id, 'prune']]);
    expect(due([note], start + 9 * day, [ack(note.id, { machine: desk })])).toEqual([]);
    expect(due([note], start + 9 * day, [ack(note.id, { agent: 'dev' as AgentId })])).toEqual([]);
    expect(due([message(0, { lifeMs: 10 * day })], start + 9 * day, [ack(note.id)])).toEqual([]);
  });

  it('is not hurried or held up by another machine’s clock', () => {
    const note = message(0, { to_agent: qa, lifeMs: 10 * day });
    expect(due([note], start + hour - 1, [ack(note.id, { at: '1999-01-01T00:00:00.000Z' })])).toEqual([]);
    expect(due([note], start + 11 * day, [ack(note.id, { at: '2999-01-01T00:00:00.000Z' })])).toEqual([
      [note.id, 'prune'],
    ]);
  });

  it('keeps a freeze that is in force although it was read, and not once it is cleared', () => {
    const held = freeze(0, { to_agent: qa, lifeMs: 5 * day });
    const acked = [ack(held.id)];
    expect(due([held], start + 4 * day, acked)).toEqual([]);
    expect(due([held], start + 4 * day, acked, [held, clear(1, { to: desk, in_reply_to: held.id })])).toEqual([]);
    expect(due([held], start + 4 * day, acked, [held, clear(1, { in_reply_to: held.id })])).toEqual([
      [held.id, 'prune'],
    ]);
  });

  it('keeps a clear as long as the freeze would have lived', () => {
    const held = freeze(0, { repo: 'a', lifeMs: 20 * day });
    for (const how of [{ repo: 'a' }, { in_reply_to: held.id }]) {
      const over = clear(1, { ...how, lifeMs: day });
      expect(due([over], start + 20 * day - 1, [], [held, over])).toEqual([]);
      expect(due([over], start + 20 * day, [], [held, over])).toEqual([[over.id, 'expire']]);
    }
    // Its sender's clock is a day behind: it lives on after the time that it names.
    const late = freeze(0, { repo: 'a', lifeMs: 20 * day, at: toIso(start + day) });
    const over = clear(1441, { repo: 'a', to_agent: qa, lifeMs: day });
    expect(due([over], start + 21 * day - 1, [ack(over.id)], [late, over])).toEqual([]);
    expect(due([over], start + 21 * day, [ack(over.id)], [late, over])).toEqual([[over.id, 'prune']]);
    const unknown = clear(1, { in_reply_to: ulid(0), lifeMs: day });
    expect(due([unknown], start + 29 * day)).toEqual([]);
    expect(due([unknown], start + 31 * day)).toHaveLength(1);
  });
});

describe('the life of a message of a clock that is behind', () => {
  const behind = { behind_ms: 10 * minute, at: toIso(start + 12 * minute) };

  it('ends by as much later, counted from when it was sent by our clock', () => {
    const note = message(0, { ...behind, lifeMs: 5 * minute });
    expect(hasExpired(note, lookTime(start + 15 * minute - 1))).toBe(false);
    expect(hasExpired(note, lookTime(start + 15 * minute))).toBe(true);
    expect(believedSentAt(note, start + hour)).toBe(start + 10 * minute);
  });

  it('is never longer than what its sender gave it, counted from its arrival', () => {
    const note = message(0, { ...behind, behind_ms: 1000 * day, lifeMs: 5 * minute });
    expect(believedExpiry(note, start + hour)).toBe(start + 17 * minute);
    expect(believedSentAt(note, start + hour)).toBe(start + 12 * minute);
  });
});

describe('whether a message has expired', () => {
  it('is what its times and the limit say, whichever of them are out of order', () => {
    const time = fc.integer({ min: start - 70 * day, max: start + 70 * day });
    const behind = fc.option(fc.integer({ min: 1, max: 3 * day }), { nil: undefined });
    fc.assert(
      fc.property(time, time, time, behind, (sent, expires, at, behindMs) => {
        const facts = {
          sent_at: toIso(sent),
          expires_at: toIso(expires),
          at: toIso(at),
          ...(behindMs === undefined ? {} : { behind_ms: behindMs }),
        };
        const says = behindMs === undefined && expires <= start;
        expect(hasExpired(facts, lookTime(start))).toBe(says || start >= believedExpiry(facts, start));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what a freeze or clear must be later than', () => {
  it('is what was seen of the other kind and of the same repo', () => {
    const seen = [
      freeze(1, { repo: 'a' }),
      freeze(9, { repo: 'b' }),
      clear(5, { repo: 'a' }),
      message(20, { repo: 'a' }),
    ];
    expect(laterThan(seen, { type: 'freeze-clear', repo: 'a' })).toBe(start + minute);
    expect(laterThan(seen, { type: 'freeze', repo: 'a' })).toBe(start + 5 * minute);
    expect(laterThan(seen, { type: 'freeze', repo: 'b' })).toBeNull();
    expect(laterThan(seen, { type: 'freeze-clear', repo: null })).toBeNull();
    expect(laterThan(seen, { type: 'note', repo: 'a' })).toBeNull();
  });

  it('is nothing at the end of time, above which there is no room', () => {
    const last = {
      ...freeze(1, { repo: 'a' }),
      id: nextUlid({ now: 8e15, random: (n) => new Uint8Array(n), last: null }),
    };
    expect(laterThan([last], { type: 'freeze-clear', repo: 'a' })).toBeNull();
  });
});

describe('the state of an own message', () => {
  const note = message(10);
  const none = { pushed: [], receipts: [], acked: [] };
  const state = (
    entry: MessageFacts,
    journal: Partial<Parameters<typeof messageState>[0]['journal']>,
    now = start + hour,
  ): ReturnType<typeof messageState> => messageState({ entry, journal: { ...none, ...journal }, machine: studio, now });
  const time = (minutes: number): string => toIso(start + minutes * minute);
  const pushed = (seq: number, minutes: number): { seq: number; at: string } => ({ seq, at: time(minutes) });
  const receipt = (machine: Handle, seq: number, minutes: number): { machine: Handle; seq: number; at: string } => ({
    machine,
    seq,
    at: time(minutes),
  });

  it('goes from queued to pushed, delivered and acked', () => {
    expect(state(note, {})).toEqual({
      state: 'queued',
      pushed_at: null,
      delivered_at: null,
      delivered_to: [],
      acks: [],
    });
    expect(state(note, { pushed: [pushed(10, 11)] }).state).toBe('queued');
    const sent = [pushed(10, 11), pushed(11, 12), pushed(15, 20)];
    expect(state(note, { pushed: sent })).toMatchObject({ state: 'pushed', pushed_at: time(12) });
    expect(state(note, { pushed: sent, receipts: [receipt(laptop, 10, 13), receipt(desk, 99, 14)] }).state).toBe(
      'pushed',
    );
    const receipts = [receipt(laptop, 11, 15), receipt(laptop, 20, 30)];
    expect(state(note, { pushed: sent, receipts })).toMatchObject({
      state: 'delivered',
      delivered_at: time(15),
      delivered_to: [{ machine: laptop, at: time(15) }],
    });
    expect(state(note, { pushed: sent, receipts, acked: [ack(note.id)] })).toMatchObject({
      state: 'acked',
      delivered_at: time(15),
      acks: [{ machine: laptop, agent: qa }],
    });
  });

  it('is delivered by what proves it, a receipt or not', () => {
    expect(state(note, { acked: [ack(note.id)] })).toMatchObject({
      state: 'acked',
      delivered_to: [{ machine: laptop, at: time(60) }],
    });
    expect(state(note, { acked: [ack(ulid(1))] }).state).toBe('queued');
  });

  it('is delivered at once on the own machine', () => {
    expect(state(message(10, { to: studio }), {})).toMatchObject({
      state: 'delivered',
      delivered_at: time(10),
      delivered_to: [{ machine: studio }],
    });
    expect(state(message(10, { to: studio }), { acked: [ack(note.id, { machine: studio })] }).state).toBe('acked');
  });

  it('of a message to all is the furthest that any other machine came', () => {
    const all = message(10, { to: '*' });
    expect(state(all, {}).state).toBe('queued');
    expect(state(all, { receipts: [receipt(studio, 99, 12)] })).toMatchObject({ state: 'queued', delivered_to: [] });
    const receipts = [receipt(laptop, 20, 15), receipt(desk, 11, 12)];
    expect(state(all, { receipts })).toMatchObject({
      state: 'delivered',
      delivered_at: time(12),
      delivered_to: [{ machine: desk }, { machine: laptop }],
    });
    expect(state(all, { receipts, acked: [ack(all.id, { machine: studio })] })).toMatchObject({
      state: 'acked',
      acks: [{ machine: studio }],
    });
  });

  it('is expired once its life is over, unless it was read', () => {
    expect(state(note, {}, start + 10 * minute + day - 1).state).toBe('queued');
    expect(state(note, { receipts: [receipt(laptop, 11, 15)] }, start + 10 * minute + day).state).toBe('expired');
    expect(state(note, { acked: [ack(note.id)] }, start + 2 * day).state).toBe('acked');
  });
});
