import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import {
  agentKey,
  isAgent,
  fromIso,
  handleFromHostname,
  isAgentId,
  isHandle,
  isIsoTime,
  isOid,
  isUlid,
  parseAgentId,
  parseHandle,
  toIso,
} from './ids.js';

describe('handles', () => {
  it.each(['a', '7', 'studio', 'build-2', 'a--b', 'com', 'com10', 'lpt', 'null', 'a'.repeat(40)])(
    'takes %s',
    (text) => {
      expect(isHandle(text)).toBe(true);
      expect(parseHandle(text)).toBe(text);
    },
  );
  it.each([
    '',
    '-a',
    'a-',
    '_charter',
    '_all',
    'Studio',
    'a.b',
    'a b',
    'a\n',
    'é',
    '*',
    'con',
    'nul',
    'com1',
    'lpt9',
    'a'.repeat(41),
  ])('refuses %j and names the rule', (text) => {
    expect(isHandle(text)).toBe(false);
    expect(() => parseHandle(text)).toThrow(/1 to 40 of a-z, 0-9/);
  });
  it.each([
    ['Studio.local', 'studio'],
    ['Café-Ñandú.example.org', 'cafe-nandu'],
    ["Ana's MacBook Pro", 'ana-s-macbook-pro'],
    ['_', 'machine'],
    ['', 'machine'],
    ['东京', 'machine'],
    ['NUL', 'machine'],
    ['DESKTOP-1_2', 'desktop-1-2'],
    [`${'a'.repeat(35)}-${'b'.repeat(30)}`, 'a'.repeat(35)],
  ])('makes a handle of the host name %j', (hostname, handle) => {
    expect(handleFromHostname(hostname)).toBe(handle);
    expect(isHandle(handle)).toBe(true);
  });
});

describe('agent ids', () => {
  it.each(['a', 'Builder', 'qa_2', 'a.b', 'v1.2-rc', 'console', 'a'.repeat(64)])('takes %s', (text) => {
    expect(parseAgentId(text)).toBe(text);
  });
  it.each([
    '',
    '.git',
    '-x',
    '_x',
    '../evil',
    'a/b',
    'a\\b',
    'a:b',
    'a.',
    'CON',
    'nul.txt',
    'Aux.tar.gz',
    'com0',
    'LPT1',
    'a\u0000b',
    'a\n',
    'ñ',
    'a'.repeat(65),
  ])('refuses %j and names the rule', (text) => {
    expect(isAgentId(text)).toBe(false);
    expect(() => parseAgentId(text)).toThrow(/1 to 64 of A-Z/);
  });
  it('shows a bad name without its control characters', () => {
    expect(() => parseAgentId('a\u001b[2J')).toThrow('"a\\u001b[2J"');
  });
  it('compares without case', () => {
    expect(agentKey(parseAgentId('Builder.X'))).toBe('builder.x');
  });

  it('tells an agent in any spelling from another, and from none', () => {
    const key = agentKey(parseAgentId('QA'));
    expect([isAgent(parseAgentId('qA'), key), isAgent(parseAgentId('qb'), key)]).toEqual([true, false]);
    expect([isAgent(null, key), isAgent(undefined, key), isAgent(null, null)]).toEqual([false, false, false]);
  });
});

describe('ULIDs, object ids and times', () => {
  it('tells a ULID from what is none', () => {
    expect(isUlid('01KBEST0000000000000000001')).toBe(true);
    for (const text of [
      '01kbest0000000000000000001',
      '01KBEST000000000000000000',
      '81KBEST0000000000000000001',
      '01KBESTI000000000000000001',
      '77777777770000000000000001',
      '../BEST0000000000000000001',
      '01KBEST0000000000000000001\n',
    ])
      expect(isUlid(text)).toBe(false);
  });
  it('tells an object id from what is none', () => {
    expect(isOid('a'.repeat(40))).toBe(true);
    for (const text of ['a'.repeat(39), 'A'.repeat(40), 'g'.repeat(40), `${'a'.repeat(40)}\n`])
      expect(isOid(text)).toBe(false);
  });
  it('takes exactly one form of a time, and only dates that exist', () => {
    expect(isIsoTime('2026-12-02T05:00:00.000Z')).toBe(true);
    expect(isIsoTime('2024-02-29T23:59:59.999Z')).toBe(true);
    for (const text of [
      '2026-12-02',
      '2026-12-02T05:00:00Z',
      '2026-12-02T05:00:00.000+00:00',
      '2026-02-29T00:00:00.000Z',
      '2026-13-01T00:00:00.000Z',
      '2026-12-02T24:00:00.000Z',
      '2026-12-02T05:60:00.000Z',
      '2026-12-02t05:00:00.000z',
      ' 2026-12-02T05:00:00.000Z',
      '+010000-01-01T00:00:00.000Z',
      '2026-12-02T05:00:00.000Z\n',
    ])
      expect(isIsoTime(text)).toBe(false);
  });
  it('gives back the time it was given', () => {
    expect(fromIso(toIso(1_796_187_600_123))).toBe(1_796_187_600_123);
    expect(() => fromIso('yesterday')).toThrow(MeshError);
    expect(() => toIso(1e15)).toThrow(RangeError);
  });
  it('reads the time that the calendar has for it, whatever the year', () => {
    const range = { min: new Date('0000-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z') };
    fc.assert(fc.property(fc.date({ ...range, noInvalidDate: true }), (date) => fromIso(toIso(date.getTime())) === date.getTime())); // prettier-ignore
    for (const year of ['0000', '0099', '0100', '9999']) {
      expect(fromIso(`${year}-12-31T23:59:59.999Z`)).toBe(Date.parse(`${year}-12-31T23:59:59.999Z`));
    }
  });
});
