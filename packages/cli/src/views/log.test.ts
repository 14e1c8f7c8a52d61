import { visibleText } from '@git-mesh/core';
import type { EventLine } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../display-width.js';
import { plainStyle } from '../style.js';
import { stubNow } from '../testing/stub-runtime.js';
import type { ViewContext } from '../view.js';
import { logLines } from './log.js';

const context = (columns?: number): ViewContext => ({
  style: plainStyle,
  nowMs: stubNow,
  columns,
  visible: (text, maxLength = 200) => visibleText(text, { maxLength }),
  own: (text) => visibleText(text),
});
const event = (agent: string | null, subject: string, more: object = {}): EventLine =>
  // All that a line shows.
  ({ event: 'send', commit: 'c', at: new Date(stubNow - 180_000).toISOString(), machine: 'ci', agent, subject, signature: 'good', ...more }) as EventLine; // prettier-ignore
const at = new Date(stubNow - 180_000).toISOString().slice(0, 19).replace('T', ' ');
const long = event('release', 'send note release -> studio: hold all merges until the smoke tests of release 2.1 pass', { message_id: 12 }); // prettier-ignore

describe('the log', () => {
  it('takes one line an event where there is no terminal', () => {
    const tell = logLines(context());
    expect(tell(long)).toBe(`${at}Z  3 min ago    release@ci      #12  ${long.subject}`);
    expect(tell(event(null, 'receipt studio through 3'))).toBe(`${at}Z  3 min ago    ci                   receipt studio through 3`); // prettier-ignore
  });

  it.each([72, 80, 100, 120, 200])('stays in %i columns, with what goes on below the subject', (columns) => {
    const lines = logLines(context(columns))(long).split('\n');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    const start = lines[0]?.indexOf('send note') ?? 0;
    for (const line of lines.slice(1)) expect(line.slice(0, start).trim()).toBe('');
    expect(lines[0]?.startsWith(columns < 120 ? '3 min ago' : at)).toBe(true);
    expect(lines.map((line) => line.slice(start)).join(' ')).toBe(long.subject);
  });

  it('names the day of what is older than one where there is no room for the time', () => {
    const old = event('release', 'x', { at: new Date(stubNow - 3 * 86_400_000).toISOString() });
    expect(logLines(context(80))(old)).toMatch(/^\d{4}-\d{2}-\d{2} {3}release@ci/);
  });

  it('takes a line for who and when on a narrow terminal, and for a trace, which keeps its times', () => {
    const narrow = logLines(context(40))(long).split('\n');
    expect(narrow[0]).toBe(`${at}Z (3 min ago)  release@ci  #12`);
    for (const line of narrow.slice(1)) expect(line).toMatch(/^ {4}\S.{0,35}$/);
    expect(logLines(context(100), { exact: true })(long)).toContain(at);
  });

  it('says at the end what is doubtful', () => {
    const told = event('x', 'send', { signature: 'bad', revoked: true });
    for (const columns of [undefined, 40, 80]) {
      expect(logLines(context(columns))(told)).toMatch(/send \(bad signature\) \(revoked\)$/);
    }
  });

  it('makes its columns for what it knows', () => {
    const other = event('a-longer-name', 'send');
    const tell = logLines(context(120), { known: [event('a', 'send'), other] });
    expect(tell(event('a', 'send')).indexOf('send')).toBe(tell(other).indexOf('send'));
  });
});
