import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine } from './json-text.js';

describe('a JSON line', () => {
  it('parses to the value it was made from, on one line', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const line = jsonLine(value);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(line.indexOf('\n')).toBe(line.length - 1);
      }),
    );
  });
  it('holds no character that a terminal acts on', () => {
    const hostile = { text: '\u001b[2J\u009b31m\u202eevil\u2028\u007f' };
    const line = jsonLine(hostile);
    expect(line.trimEnd()).toMatch(/^[\u0020-\u007e]*$/);
    expect(JSON.parse(line)).toEqual(hostile);
  });
});
