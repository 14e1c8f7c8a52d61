import { expect, it } from 'vitest';
import { plainStyle } from '../style.js';
import { listLines } from './list-lines.js';

const entries = ['ci (seen 3 min ago)', 'laptop (木)', 'studio'].map((text) => ({ text, painted: text }));
const lines = (columns: number | undefined): string[] =>
  listLines('Machines: ', entries, { style: plainStyle, columns, nowMs: 0, visible: (text) => text, own: String });

it('a list goes on in an indented line, and no entry is broken', () => {
  expect(lines(undefined)).toEqual(['Machines: ci (seen 3 min ago), laptop (木), studio']);
  expect(lines(43)).toEqual(['Machines: ci (seen 3 min ago), laptop (木),', '  studio']);
  expect(lines(20)).toEqual(['Machines: ci (seen 3 min ago),', '  laptop (木),', '  studio']);
});
