import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLoss, lossText } from './json-loss.js';

describe('what JSON.parse would lose', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e-400',
    '0.1000000000000000055511151231257827',
    '3.14159265358979323846',
    '12345678901234567890',
    `1${'0'.repeat(400)}`,
  ])('is the number %s', (written) => {
    expect(jsonLoss(`{"a": [1, ${written}]}`)).toMatchObject({ kind: 'number', line: 1, column: 11 });
  });

  it.each([
    '0',
    '-0',
    '0.0',
    '0e999999999',
    '1.0',
    '1e2',
    '1E+2',
    '100e-2',
    '0.1',
    '1.50',
    '9007199254740992',
    '1e21',
    '1000000000000000000000',
    '12345678901234567000',
    '5e-324',
    '1.7976931348623157e308',
    `0.${'0'.repeat(50)}1e51`,
  ])(
    // prettier-ignore
    'is not the number %s',
    (written) => {
      expect(jsonLoss(`{"a":${written}}`)).toBeNull();
    },
  );

  it.each([
    ['{"a":1,"a":1}', '"a"', 8],
    ['{"x":{"b":1,"\\u0062":2}}', '"\\u0062"', 13],
    ['[{"__proto__":1,"__proto__":2}]', '"__proto__"', 17],
  ])('is the second key in %s', (text, shown, column) => {
    expect(jsonLoss(text)).toMatchObject({ kind: 'duplicate key', shown, line: 1, column });
  });

  it('is no key that another object has too, and no value', () => {
    expect(jsonLoss('{"a":{"a":"a"},"b":[{"a":1},{"a":2}],"constructor":1}')).toBeNull();
  });

  it('is named with its place, and says what to do', () => {
    const number = jsonLoss('{\n  "id": 9007199254740993\n}');
    expect(number === null ? '' : lossText(number, `line ${number.line}, column ${number.column}`)).toBe(
      'the number 9007199254740993 (line 2, column 9) would arrive as 9007199254740992: write it as a string, in quotation marks',
    );
    const key = jsonLoss('{"a":1,"a":2}');
    expect(key === null ? '' : lossText(key)).toMatch(/^the key "a" is there twice in one object/);
  });

  it('is nothing in a text that is no JSON, or too deep to look at', () => {
    expect(jsonLoss('{"a":9007199254740993')).toBeNull();
    expect(jsonLoss('['.repeat(1_000_000) + ']'.repeat(1_000_000))).toBeNull();
  });

  it('is nothing in what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonLoss(JSON.stringify(value))).toBeNull();
      }),
    );
  });
});
