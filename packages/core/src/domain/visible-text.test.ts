import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasUnseen, isWellFormed, visibleText } from './visible-text.js';

describe('visibleText', () => {
  it.each([
    ['plain text, día 3 😀', 'plain text, día 3 😀'],
    ['a\u001b[31mb', 'a\\u001b[31mb'],
    ['a\r\nb\tc', 'a\\u000d\\u000ab\\u0009c'],
    ['\u202eevil\u2066x\u2069', '\\u202eevil\\u2066x\\u2069'],
    ['a\u200bb\u2028c\u2029d\u00ade', 'a\\u200bb\\u2028c\\u2029d\\u00ade'],
    ['\u009b2J\u007f', '\\u009b2J\\u007f'],
    ['\ufeffx\u{e0041}', '\\ufeffx\\u{e0041}'],
    ['\ud800', '\\ud800'],
  ])('shows %j as %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it('cuts at the length asked for and never through an escape or a character', () => {
    expect(visibleText('abcdef', { maxLength: 6 })).toBe('abcdef');
    expect(visibleText('abcdefg', { maxLength: 6 })).toBe('abcde…');
    expect(visibleText('ab\u001bcdef', { maxLength: 6 })).toBe('ab…');
    expect(visibleText('😀😀😀😀', { maxLength: 3 })).toBe('😀😀…');
    expect(visibleText('x'.repeat(10_000_000), { maxLength: 10 })).toBe('xxxxxxxxx…');
  });

  it('gives one line of well-formed, harmless text for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 30 }), (text, maxLength) => {
        const shown = visibleText(text, { maxLength });
        expect(hasUnseen(shown)).toBe(false);
        expect(isWellFormed(shown)).toBe(true);
        expect(Array.from(shown).length).toBeLessThanOrEqual(maxLength);
      }),
    );
  });
});
