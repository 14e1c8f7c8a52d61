import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import { decodeYaml, encodeYaml, encodeYamlBytes, maxFileBytes } from './codec.js';
import { jsonEqual } from './json.js';
import { payloadBytes } from './payload.js';
import type { Json, JsonObject } from './records.js';
import { isWellFormed } from './visible-text.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string): Json => decodeYaml(bytes(text));
const roundTrip = (value: Json): Json => decodeYaml(encodeYamlBytes(value), { maxBytes: 10_000_000 });

function reason(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    expect((error as MeshError).errorName).toBe('invalid_argument');
    return (error as MeshError).message;
  }
  throw new Error('nothing was thrown');
}

const nasty = [
  ...[
    '',
    ' ',
    ' \n',
    '\n',
    '\r\n',
    '\t',
    ' x',
    'x ',
    'x\n',
    '\nx',
    'a\n\nb',
    '-',
    '- a',
    '---',
    '...',
    '--- a',
    '?',
    '? a',
  ],
  ...[
    ':',
    'a:',
    'a: b',
    'a:b',
    ': a',
    '#',
    'a #b',
    'a#b',
    '# a',
    '&a',
    '*a',
    '!a',
    '!!str a',
    '|',
    '>',
    '|\n a',
    "'",
    '"',
  ],
  ...[
    '%YAML 1.1',
    '@a',
    '`a',
    '{',
    '}',
    '[',
    ']',
    '{}',
    '[]',
    ',',
    '<<',
    '=',
    '~',
    'null',
    'Null',
    'true',
    'TRUE',
    'no',
    'y',
  ],
  ...[
    'on',
    'Off',
    '1',
    '-1',
    '+1',
    '0x1F',
    '0o17',
    '017',
    '1e3',
    '1_000',
    '.5',
    '5.',
    '.inf',
    '-.INF',
    '.nan',
    '1:30',
    '0b1',
  ],
  ...[
    '2026-12-02',
    '2026-12-02T00:00:00.000Z',
    '__proto__',
    'constructor',
    '\u2028',
    '\u2029',
    '\u0085',
    '\u0000',
    '\u0007',
  ],
  ...[
    '\u001b[31m',
    '\u007f',
    '\u009b',
    '\ufeff',
    '\ufffe',
    '\uffff',
    '\u202e',
    '\u200b',
    '😀',
    'é',
    'e\u0301',
    '\u{e0041}',
  ],
  ...[
    '<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n',
    'x'.repeat(1025),
    '"'.repeat(600),
    '\\',
    '\\n',
    '\\u001b',
    'a\\',
    'día: no',
  ],
];

describe('encodeYaml', () => {
  it.each(nasty)('returns %j unchanged as a value, an item and a key', (text) => {
    for (const value of [text, [text], { [text]: text }, { a: { [text]: [text, { [text]: text }] } }]) {
      expect(isDeepStrictEqual(roundTrip(value), value)).toBe(true);
    }
  });

  it.each([0, -0, 1, -1, 0.1, 1e21, 1e-7, 1.7976931348623157e308, 5e-324, 2 ** 53, 2 ** 53 - 1, 123456789012345680000])(
    'returns the number %d unchanged',
    (value) => {
      expect(Object.is(roundTrip(value), value)).toBe(true);
      expect(roundTrip({ n: [value] })).toStrictEqual({ n: [value] });
    },
  );

  it('returns any JSON value unchanged, the order of keys included', () => {
    const text = fc.oneof(
      fc.constantFrom(...nasty),
      fc.string({ unit: 'binary' }).filter((s) => isWellFormed(s)),
      fc.string(),
    );
    const value = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('json'), { maxLength: 5 }),
        fc
          .array(fc.tuple(text, tie('json')), { maxLength: 5 })
          .map(
            (pairs): Json =>
              JSON.parse(`{${pairs.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`) as Json,
          ),
      ),
    })).json;
    fc.assert(
      fc.property(value, (json) => jsonEqual(roundTrip(json), json)),
      { numRuns: 10_000 },
    );
  }, 120_000);

  it('keeps a key named __proto__ an own key and pollutes nothing', () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":1}}') as Json;
    const back = roundTrip(value) as JsonObject;
    expect(Object.keys(back)).toEqual(['__proto__', 'a']);
    expect(back).toStrictEqual(value);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
  });

  it('writes plain what people can read and nothing could mistake', () => {
    const value = {
      role: 'builder',
      status: "cutting 2.1, don't merge (día 3)",
      no: 'no',
      at: '2026-12-02T00:00:00.000Z',
      caps: ['merge', '1'],
      list: [[1], { a: 1, b: {} }],
      none: null,
    };
    expect(encodeYaml(value)).toBe(
      [
        'role: builder',
        "status: cutting 2.1, don't merge (día 3)",
        '"no": "no"',
        'at: "2026-12-02T00:00:00.000Z"',
        'caps:',
        '  - merge',
        '  - "1"',
        'list:',
        '  - - 1',
        '  - a: 1',
        '    b: {}',
        'none: null',
        '',
      ].join('\n'),
    );
  });

  it('writes no character that a terminal acts on', () => {
    const text = encodeYaml({ a: nasty.join(''), b: nasty.map((s) => ({ [s]: 1 })) });
    // eslint-disable-next-line no-control-regex -- the very characters in question
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\ufeff]/);
  });

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('refuses the lone surrogate in %j', (text) => {
    expect(reason(() => encodeYaml({ [text]: 1 }))).toContain('surrogate');
    expect(reason(() => encodeYaml([text]))).toContain('surrogate');
  });

  it('refuses numbers that JSON does not have', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(reason(() => encodeYaml([value]))).toContain('number');
  });

  it('refuses values nested too deeply, also by a hundred thousand levels', () => {
    const nest = (levels: number): Json => {
      let value: Json = 1;
      for (let i = 0; i < levels; i++) value = [value];
      return value;
    };
    expect(roundTrip(nest(100))).toStrictEqual(nest(100));
    expect(reason(() => encodeYaml(nest(101)))).toContain('deep');
    expect(reason(() => encodeYaml(nest(100_000)))).toContain('deep');
  });

  const deep = (inner: string): string => `${'{"a":'.repeat(60)}${inner}${'}'.repeat(60)}`;
  it.each([
    ['DEL characters', JSON.stringify({ s: '\u007f'.repeat(16_376) })],
    ['C1 characters', JSON.stringify({ s: '\u009b'.repeat(8_188) })],
    ['byte-order marks', JSON.stringify({ s: '\ufeff'.repeat(5_458) })],
    ['quotes', JSON.stringify({ s: '"'.repeat(8_188) })],
    ['NULs', JSON.stringify({ s: '\u0000'.repeat(2_729) })],
    ['a list of digits', `{"s":[${'0,'.repeat(8_187)}0]}`],
    ['a list of digits, 60 levels down', deep(`[${'0,'.repeat(7_900)}0]`)],
    ['empty lists', `{"s":[${'[],'.repeat(5_457)}[]]}`],
    ['one long key', `{"${'k'.repeat(16_378)}":1}`],
    ['one long key deep inside', `{"a":[{"${'k'.repeat(16_370)}":1}]}`],
    ['many short keys', `{${Array.from({ length: 1_800 }, (_, i) => `"${i + 1000}":1`).join(',')}}`],
  ])('fits a payload of nearly 16,384 bytes into the file cap: %s', (_, json) => {
    const payload = JSON.parse(json) as JsonObject;
    expect(payloadBytes(payload)).toBeGreaterThan(14_000);
    expect(payloadBytes(payload)).toBeLessThanOrEqual(16_384);
    const file = encodeYamlBytes({ id: 'x', payload });
    expect(file.length).toBeLessThan(maxFileBytes);
    expect(jsonEqual(decodeYaml(file), { id: 'x', payload })).toBe(true);
  });
});

describe('decodeYaml', () => {
  it('reads what other writers may have written', () => {
    expect(read('a: no\nb: 1_000\nc: 0x1F\nd: [1.10, 1e2, "x"]\ne: |\n  two\n  lines\nf:\n# comment\n')).toStrictEqual({
      a: 'no',
      b: '1_000',
      c: 31,
      d: [1.1, 100, 'x'],
      e: 'two\nlines\n',
      f: null,
    });
    expect(read('')).toBeNull();
    expect(read('1: a\n~: b\nno: c\n')).toStrictEqual({ '1': 'a', '~': 'b', no: 'c' });
    expect(read('\ufeffa: 1\r\nb: 2\r\n')).toStrictEqual({ a: 1, b: 2 });
    expect(read('a: "50%"\n')).toStrictEqual({ a: '50%' });
  });

  it.each([
    ['an alias', 'a: &x 1\nb: *x\n', /alias|anchor/i],
    ['an anchor', 'a: &x 1\n', /anchor/],
    ['an anchor of a key', '&x a: 1\n', /anchor/],
    ['a tag', 'a: !!binary aGk=\n', /tag/i],
    ['a local tag', 'a: !x 1\n', /tag/i],
    ['a plain tag', 'a: !!str 1\n', /tag/i],
    ['a duplicate key', 'a: 1\na: 2\n', /unique/],
    ['a duplicate key in flow', '{a: 1, "a": 2}\n', /unique/],
    ['several documents', 'a: 1\n---\nb: 2\n', /document/],
    ['a YAML 1.1 directive', '%YAML 1.1\n---\na: no\n', /directive/],
    ['a YAML 1.2 directive', '%YAML 1.2\n---\na: no\n', /directive/],
    ['a tag directive', '%TAG ! tag:x,2026:\n---\na: no\n', /directive/],
    ['an unknown directive', '%X\n---\na: no\n', /directive|Unknown/],
    ['a key that is a list', '? [a]\n: 1\n', /string|key/],
    ['a number that rounds', 'a: 9007199254740993\n', /9007199254740993 cannot be kept/],
    ['a fraction that rounds', 'a: 0.1000000000000000055\n', /cannot be kept/],
    ['a number that overflows', 'a: 1e999\n', /cannot be kept/],
    ['a number that underflows', 'a: 1e-999\n', /cannot be kept/],
    ['a hex number that rounds', 'a: 0x20000000000001\n', /cannot be kept/],
    ['infinity', 'a: .inf\n', /cannot be kept/],
    ['what is no number', 'a: .nan\n', /cannot be kept/],
    ['conflict markers', '<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n', /YAML/],
    ['a bad escape', 'a: "\\q"\n', /YAML/],
    ['a stray colon', 'a: b: c\n', /YAML/],
    ['a tab as indent', 'a:\n\tb: 1\n', /YAML/],
    ['an unclosed list', '[[[[[[[[[[', /YAML/],
    ['escapes of a lone surrogate', 'a: "\\ud800"\n', /surrogate/],
  ])('refuses %s', (_, text, why) => {
    expect(reason(() => read(text))).toMatch(why);
  });

  it('refuses what is too large before it looks at it, and what is no UTF-8', () => {
    expect(reason(() => read(`a: "${'x'.repeat(maxFileBytes)}"\n`))).toContain('32768');
    expect(reason(() => decodeYaml(bytes('abc'), { maxBytes: 2 }))).toContain('3 bytes');
    expect(reason(() => decodeYaml(Uint8Array.of(0x61, 0x3a, 0x20, 0xff)))).toContain('UTF-8');
    expect(reason(() => decodeYaml(Uint8Array.of(0x61, 0x3a, 0x20, 0xed, 0xa0, 0x80)))).toContain('UTF-8');
  });

  it('refuses bombs and junk of the largest size within seconds', () => {
    const fill = (unit: string): string => unit.repeat(Math.floor(maxFileBytes / unit.length));
    const level = (i: number): string => `${'bcdefghi'.charAt(i)}: &${'bcdefghi'.charAt(i)} [${'*a,'.repeat(9)}*a]`;
    const laughs = `a: &a [x]\n${Array.from({ length: 8 }, (_, i) => level(i)).join('\n')}\n`;
    for (const text of [
      laughs,
      fill('? '),
      fill('- '),
      fill('['),
      fill('{'),
      fill('{a: '),
      fill('[{'),
      fill('"'),
      fill('&a '),
      fill('!a '),
      fill('a: b: c\n'),
      fill('? a\n'),
    ]) {
      const start = performance.now();
      expect(reason(() => read(text))).not.toBe('');
      expect(performance.now() - start).toBeLessThan(8_000);
    }
  }, 120_000);

  it('never throws anything but a MeshError', () => {
    const token = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '? ',
      '\n',
      '  ',
      '&a',
      '*a',
      '!t',
      '|',
      '>',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ',',
      '#',
      '%',
      '---',
      '...',
      '1',
      '\t',
      '\u0000',
      '<<',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
        try {
          read(tokens.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(MeshError);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
