import { expect, it } from 'vitest';
import { terminalColumns } from './terminal-columns.js';

it.each([
  ['a terminal’s own', true, 120, {}, 120],
  ['COLUMNS before it', true, 120, { COLUMNS: '60' }, 60],
  ['its own where COLUMNS is none', true, 120, { COLUMNS: '-1' }, 120],
  ['none of one that says it has none', true, 0, {}, undefined],
  ['none where there is no terminal', false, undefined, { COLUMNS: '60' }, undefined],
])('the width is %s', (_what, isTerminal, columns, env, expected) => {
  const stdout = { isTerminal, columns, closed: false, write: () => Promise.resolve() };
  expect(terminalColumns({ stdout, env })).toBe(expected);
});
