import { describe, expect, it } from 'vitest';
import { chooseStyle } from './style.js';

const coloured = (isTerminal: boolean, env: Record<string, string>): boolean =>
  chooseStyle(isTerminal, env).red('x') !== 'x';

describe('colour', () => {
  it('is on for a terminal only', () => {
    expect([coloured(true, {}), coloured(false, {})]).toEqual([true, false]);
  });
  it('is off with NO_COLOR, unless that is empty, and on a dumb terminal', () => {
    expect([coloured(true, { NO_COLOR: '1' }), coloured(true, { NO_COLOR: '' }), coloured(true, { TERM: 'dumb' })]).toEqual([false, true, false]); // prettier-ignore
  });
  it('is off in a pipe and with NO_COLOR, whatever FORCE_COLOR says', () => {
    expect([coloured(false, { FORCE_COLOR: '1' }), coloured(true, { FORCE_COLOR: '1', NO_COLOR: '1' })]).toEqual([false, false]); // prettier-ignore
  });
});
