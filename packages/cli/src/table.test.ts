import { describe, expect, it } from 'vitest';
import { displayWidth } from './display-width.js';
import { renderTable } from './table.js';

const columns = [{ header: 'N', align: 'right' as const }, { header: 'NAME' }, { header: 'NOTE', shrinks: true }];

describe('a table', () => {
  it('aligns columns by what a terminal draws', () => {
    const rows = [
      ['1', '日本', 'x'],
      ['12', 'ab', 'y'],
    ];
    expect(renderTable(columns, rows)).toBe([' N  NAME  NOTE', ' 1  日本  x', '12  ab    y'].join('\n'));
  });

  it('leaves out columns that have no value', () => {
    expect(renderTable(columns, [['1', '', 'x']])).toBe('N  NOTE\n1  x');
  });

  it('cuts only what may shrink to fit the terminal, and never wraps for it', () => {
    const text = renderTable(columns, [['1', 'a-long-name-that-stays', 'word '.repeat(40)]], { availableColumns: 50 });
    for (const line of text.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(50);
    expect(text).toContain('a-long-name-that-stays');
    expect(text).toContain('…');
  });

  it('gives each row several lines where names alone fill the terminal, and cuts nothing then', () => {
    const named = [{ header: 'AGENT', leads: true }, { header: 'ON', leads: true }, { header: 'NOTE', shrinks: true }, { header: 'FOR' }, { header: 'KEY' }]; // prettier-ignore
    const row = ['a-name-that-one-has-to-type', 'laptop', 'some words that go on for a while', '3 min', 'SHA256:whole'];
    const dim = (text: string): string => `<${text}>`;
    expect(renderTable(named, [row, ['b', 'ci', '', '', '']], { availableColumns: 30, paintHeader: dim })).toBe(
      [
        'a-name-that-one-has-to-type  laptop',
        '  note: some words that go',
        '    on for a while',
        '  <for: >3 min',
        '  <key: >SHA256:whole',
        'b  ci',
      ].join('\n'),
    );
    const long = renderTable(named, [[...row.slice(0, 4), 'x'.repeat(50)]], { availableColumns: 30 });
    expect(long).toContain(`\n  key: ${'x'.repeat(50)}`);
  });

  it('cuts nothing where there is no terminal', () => {
    expect(renderTable(columns, [['1', 'n', 'x'.repeat(500)]])).toContain('x'.repeat(500));
  });

  it('does not count colour as width', () => {
    const red = { text: 'ab', paint: (text: string) => `\u001b[31m${text}\u001b[39m` };
    const lines = renderTable(columns, [['1', red, 'x'], ['2', 'abcdef', 'y']]).split('\n'); // prettier-ignore
    expect(lines[1]).toBe('1  \u001b[31mab\u001b[39m      x');
  });
});
