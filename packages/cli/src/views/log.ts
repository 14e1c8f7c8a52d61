import type { EventLine } from '@git-mesh/core';
import { displayWidth, rowsOf } from '../display-width.js';
import { relativeTime } from '../relative-time.js';
import type { ViewContext } from '../view.js';

const gap = '  ';
/** As long as `in a moment`. */
const ageWidth = 11;
const numberWidth = 5;
const shortestWho = 12;
/** A longer name pushes what follows it, in its own line alone. */
const longestWho = 28;
/** Below it an event takes a line for what happened and one for the rest. */
const leastForColumns = 72;
/** From here on there is room for the time besides its age. */
const leastForTimes = 120;
const hang = 4;
const dayMs = 86_400_000;

interface Told {
  at: string;
  age: string;
  who: string;
  number: string;
  subject: string;
}

/**
 * Tells events one after the other, in columns that fit the terminal and in one line each where there is none. What goes on
 * in a further line is indented, so that no subject passes for an event. `exact` keeps the time where it has little room; `known` are events that
 * the columns are made for.
 */
export function logLines(
  context: ViewContext,
  { exact = false, known = [] }: { exact?: boolean; known?: readonly EventLine[] } = {},
): (event: EventLine) => string {
  const { columns, style } = context;
  const isNarrow = columns !== undefined && columns < (exact ? leastForTimes : leastForColumns);
  const hasTimes = columns === undefined || columns >= leastForTimes;
  const asWide = (who: string): number => Math.min(longestWho, displayWidth(who));
  let whoWidth = Math.max(shortestWho, ...known.map((event) => asWide(told(event, context).who)));
  return (event) => {
    const { at, age, who, number, subject } = told(event, context);
    if (isNarrow) {
      const head = [style.dim(`${at} (${age})`), style.bold(who), style.dim(number)];
      const rows = rowsOf(subject, Math.max(1, columns - hang));
      return [head.filter((part) => part !== '').join(gap), ...rows.map((row) => ' '.repeat(hang) + row)]
        .map((line, i) => (i === 1 + rows.length - 1 ? line + doubts(event, context) : line))
        .join('\n');
    }
    whoWidth = Math.max(whoWidth, asWide(who));
    const when = hasTimes
      ? `${at}${gap}${age.padEnd(ageWidth)}`
      : (isOld(event, context) ? at.slice(0, 10) : age).padEnd(ageWidth);
    const padding = ' '.repeat(Math.max(0, whoWidth - displayWidth(who)));
    const head = [style.dim(when), style.bold(who) + padding, style.dim(number.padStart(numberWidth)), ''].join(gap);
    const before =
      when.length + Math.max(whoWidth, displayWidth(who)) + Math.max(numberWidth, number.length) + 3 * gap.length;
    if (columns === undefined) return head + subject + doubts(event, context);
    const rows = rowsOf(subject, Math.max(1, columns - before));
    return head + rows.join(`\n${' '.repeat(before)}`) + doubts(event, context);
  };
}

function told(event: EventLine, { nowMs, visible }: ViewContext): Told {
  return {
    at: visible(event.at.replace('T', ' ').replace(/\.\d+Z$/, 'Z'), 40),
    age: relativeTime(event.at, nowMs),
    who: event.agent === null ? event.machine : `${visible(event.agent, 70)}@${event.machine}`,
    number: event.message_id === undefined ? '' : `#${event.message_id}`,
    subject: visible(event.subject, 300),
  };
}

const isOld = (event: EventLine, { nowMs }: ViewContext): boolean => nowMs - Date.parse(event.at) >= dayMs;

function doubts(event: EventLine, { style }: ViewContext): string {
  const bad = event.signature === 'bad' ? ` ${style.red('(bad signature)')}` : '';
  const revoked = event.revoked === true ? ` ${style.red('(revoked)')}` : '';
  return bad + revoked;
}
