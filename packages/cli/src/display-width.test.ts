import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, rowsOf, truncateToWidth } from './display-width.js';

describe('display width', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['é', 1],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🚀', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇨🇱', 2],
    ['❤️', 2],
    ['a\u200bb', 2],
    ['Ñandú', 5],
  ])('of %j is %i', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it('is never exceeded by truncated text, which shows that it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        const cut = truncateToWidth(text, columns);
        expect(displayWidth(cut)).toBeLessThanOrEqual(columns);
        expect(cut === text || cut.endsWith('…')).toBe(true);
      }),
    );
  });

  it('does not cut a wide character in half', () => {
    expect(truncateToWidth('日本語', 4)).toBe('日…');
  });

  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['one two three', 7, ['one two', 'three']],
    ['a verylongword', 8, ['a verylo', 'ngword']],
    ['日本語 日本語', 8, ['日本語', '日本語']],
    ['日本語日本語', 5, ['日本', '語日', '本語']],
    ['x', 0, ['x']],
  ])('%j in rows of %i', (text, columns, rows) => {
    expect(rowsOf(text, columns)).toEqual(rows);
  });

  it('loses nothing but spaces at the breaks, and no row is too wide', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, columns) => {
        const rows = rowsOf(text, columns);
        for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(columns);
        expect(rows.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });
});
