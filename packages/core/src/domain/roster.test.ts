import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Handle, Oid } from './ids.js';
import type { RosterRecord } from './records.js';
import { admissionOf, ruleOn } from './roster.js';
import type { Cut, Ruling, StatingMachine } from './roster.js';

/** Every test handle and id has the form of one. */
const h = (name: string): Handle => name as Handle;
const oid = (seq: number): Oid => String(seq).padStart(40, '0') as Oid;
const keyOf = (name: string): string => `key of ${name}`;

type Said = { at: number } & ({ admit: string; key?: string } | { revoke: string; through: number });

/** A mesh by what each machine says at which of its commits; a later word about a machine replaces the earlier one. */
function rule(
  said: Record<string, readonly Said[]>,
  options: { policy?: 'open' | 'roster'; own?: string; keys?: Record<string, string[]> } = {},
): Ruling {
  const statementsUpTo = (name: string, seq: number): RosterRecord[] => {
    const found = new Map<string, RosterRecord>();
    for (const one of said[name] ?? []) {
      if (one.at > seq) continue;
      if ('admit' in one) found.set(one.admit, { handle: h(one.admit), key: one.key ?? keyOf(one.admit), admitted_at: 'now' }); // prettier-ignore
      else found.set(one.revoke, { handle: h(one.revoke), key: keyOf(one.revoke), revoked_at: 'now', through: { seq: one.through, commit: oid(one.through) } }); // prettier-ignore
    }
    return [...found.values()];
  };
  let cuts: ReadonlyMap<Handle, Cut> = new Map();
  for (let steps = 0; ; steps++) {
    if (steps > 1_000) throw new Error('it does not end');
    const machines: StatingMachine[] = Object.keys(said).map((name) => ({
      handle: h(name),
      keys: options.keys?.[name] ?? [keyOf(name)],
      statements: statementsUpTo(name, cuts.get(h(name))?.seq ?? Infinity),
    }));
    const ruling = ruleOn({
      policy: options.policy ?? 'roster',
      own: h(options.own ?? 'founder'),
      founder: { handle: h('founder'), key: keyOf('founder') },
      machines,
      cuts,
    });
    if (ruling.settled) return ruling;
    cuts = ruling.cuts;
  }
}
const isIn = (ruling: Ruling, name: string, keys = [keyOf(name)]): boolean =>
  admissionOf(ruling, h(name), keys) !== null && !ruling.cuts.has(h(name));
const members = (ruling: Ruling, names: string): string[] => names.split(' ').filter((name) => isIn(ruling, name));

test('members are those whom a chain from the founder admits', () => {
  const ruling = rule({
    founder: [{ at: 2, admit: 'a' }],
    a: [{ at: 2, admit: 'b' }],
    b: [{ at: 2, admit: 'c' }],
    c: [],
    d: [],
  });
  expect(members(ruling, 'founder a b c d')).toEqual(['founder', 'a', 'b', 'c']);
  expect(admissionOf(ruling, h('b'), [keyOf('b')])).toEqual({ key: keyOf('b'), by: 'a' });
});

test('a statement by one who is no member is not believed, whoever it is about', () => {
  const ruling = rule({
    founder: [{ at: 2, admit: 'a' }],
    a: [],
    x: [{ at: 2, admit: 'y' }, { at: 3, admit: 'x' }, { at: 4, revoke: 'a', through: 1 }, { at: 5, revoke: 'founder', through: 1 }], // prettier-ignore
    y: [{ at: 2, admit: 'x' }],
  });
  expect(members(ruling, 'founder a x y')).toEqual(['founder', 'a']);
});

test('an admission is of a key, and holds for the keys that its machine went on to', () => {
  const said = { founder: [{ at: 2, admit: 'a', key: 'old' }], a: [{ at: 2, admit: 'b' }], b: [] };
  expect(isIn(rule(said), 'a')).toBe(false);
  expect(members(rule(said), 'b')).toEqual([]);
  const rotated = rule(said, { keys: { a: ['old', 'new'] } });
  expect(isIn(rotated, 'a', ['old', 'new'])).toBe(true);
  expect(members(rotated, 'b')).toEqual(['b']);
});

test('a machine under the founder’s handle with another key is not the founder', () => {
  const ruling = rule({ founder: [{ at: 2, admit: 'a' }], a: [] }, { keys: { founder: ['another'] } });
  expect(members(ruling, 'a')).toEqual([]);
});

test('of several revocations the lowest commit is the last that is believed', () => {
  const ruling = rule({
    founder: [
      { at: 2, admit: 'a' },
      { at: 3, admit: 'b' },
      { at: 4, admit: 'x' },
    ],
    a: [{ at: 2, revoke: 'x', through: 9 }],
    b: [{ at: 2, revoke: 'x', through: 7 }],
    x: [],
  });
  expect(ruling.cuts.get(h('x'))).toEqual({ seq: 7, commit: oid(7), by: 'b' });
});

test('what a revoked machine stated counts up to the commit that was named, and no further', () => {
  const ruling = rule({
    founder: [
      { at: 2, admit: 'x' },
      { at: 3, revoke: 'x', through: 5 },
    ],
    x: [
      { at: 4, admit: 'early' },
      { at: 6, admit: 'late' },
      { at: 7, revoke: 'early', through: 1 },
    ],
    early: [],
    late: [],
  });
  expect(members(ruling, 'x early late')).toEqual(['early']);
});

test('a member’s own later admission takes its revocation back, and nobody else’s does', () => {
  const base: Said[] = [
    { at: 2, admit: 'a' },
    { at: 3, admit: 'x' },
    { at: 4, revoke: 'x', through: 2 },
  ];
  expect(members(rule({ founder: base, a: [{ at: 9, admit: 'x' }], x: [] }), 'x')).toEqual([]);
  expect(members(rule({ founder: [...base, { at: 5, admit: 'x' }], a: [], x: [] }), 'x')).toEqual(['x']);
});

test('of two who revoke each other, the one nearer to the founder stays', () => {
  const said = {
    founder: [
      { at: 2, admit: 'b' },
      { at: 3, admit: 'z' },
    ],
    z: [{ at: 2, admit: 'a' }, { at: 5, revoke: 'b', through: 3 }],
    b: [{ at: 5, revoke: 'z', through: 3 }],
    a: [{ at: 2, revoke: 'z', through: 3 }],
  }; // prettier-ignore
  expect(members(rule(said), 'founder a b z')).toEqual(['founder', 'a', 'b']);
  const founder = [
    { at: 2, admit: 'b' },
    { at: 4, revoke: 'b', through: 2 },
  ];
  const ruling = rule({ founder, b: [{ at: 3, revoke: 'founder', through: 3 }] });
  expect(members(ruling, 'founder b')).toEqual(['founder']);
});

test('a thief of a revoked key revokes nobody by what it adds', () => {
  const ruling = rule({
    founder: [{ at: 2, admit: 'thief' }, { at: 3, admit: 'judge' }],
    thief: [{ at: 8, revoke: 'founder', through: 1 }],
    judge: [{ at: 2, revoke: 'thief', through: 7 }],
  }); // prettier-ignore
  expect(members(ruling, 'founder judge thief')).toEqual(['founder', 'judge']);
});

test('under open only one’s own word counts', () => {
  const said = {
    founder: [{ at: 2, admit: 'a' }, { at: 3, revoke: 'b', through: 1 }],
    me: [{ at: 2, admit: 'c' }, { at: 3, revoke: 'founder', through: 4 }],
    a: [],
    b: [],
    c: [],
  }; // prettier-ignore
  const ruling = rule(said, { policy: 'open', own: 'me' });
  expect([...ruling.admitted.keys()]).toEqual(['founder', 'c']);
  expect([...ruling.cuts]).toEqual([['founder', { seq: 4, commit: oid(4), by: 'me' }]]);
});

test('it ends, in the same way in whatever order the branches are read, and believes no stranger', () => {
  const names = ['founder', 'a', 'b', 'c', 'd'];
  const name = fc.constantFrom(...names);
  const one: fc.Arbitrary<Said> = fc.oneof(
    fc.record({ at: fc.integer({ min: 1, max: 8 }), admit: name }),
    fc.record({ at: fc.integer({ min: 1, max: 8 }), revoke: name, through: fc.integer({ min: 1, max: 8 }) }),
  );
  const said = fc.tuple(...names.map(() => fc.array(one, { maxLength: 5 })));
  fc.assert(
    fc.property(said, (lists) => {
      const entries = names.map((who, i) => [who, lists[i] ?? []] as const);
      const stranger = [['x', names.map((who) => ({ at: 1, revoke: who, through: 1 }))] as const];
      const there = rule(Object.fromEntries(entries));
      const back = rule(Object.fromEntries([...stranger, ...entries.toReversed()]));
      const plain = ({ admitted, cuts }: Ruling): unknown => [new Map(admitted), new Map(cuts)];
      expect(plain(back)).toEqual(plain(there));
    }),
    { numRuns: 300 },
  );
});
