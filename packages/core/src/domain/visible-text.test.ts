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
    ['\ufffe\ufdd0\u{1ffff}', '\\ufffe\\ufdd0\\u{1ffff}'],
    ['a\u{1d173}b\u{1bca0}\u2800', 'a\\u{1d173}b\\u{1bca0}\\u2800'],
    // Bytes hidden in variation selectors, and the one that an emoji needs.
    ['a\ufe00\u{e0100}', 'a\\ufe00\\u{e0100}'],
    ['❤\ufe0f 1\ufe0f\u20e3', '❤\ufe0f 1\ufe0f\u20e3'],
    ['x\ufe0f\ufe0e\ufe0f', 'x\ufe0f\ufe0e\\ufe0f'],
    // Marks: as many as languages write, on a letter.
    ['e\u0301 ố नमस्ते שָׁלוֹם ใช้', 'e\u0301 ố नमस्ते שָׁלוֹם ใช้'],
    [`o${'\u0335'.repeat(6)}`, `o${'\u0335'.repeat(4)}\\u0335\\u0335`],
    ['\u0338"\u0338 \u0338', '\\u0338"\\u0338 \\u0338'],
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
        expect(visibleText(shown)).toBe(shown);
        expect(isWellFormed(shown)).toBe(true);
        expect(Array.from(shown).length).toBeLessThanOrEqual(maxLength);
      }),
    );
  });
});
