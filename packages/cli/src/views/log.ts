import type { EventLine } from '@git-mesh/core';
import { relativeTime } from '../relative-time.js';
import type { ViewContext } from '../view.js';

/** One event as one line: time, machine, agent, subject. */
export function logLine(event: EventLine, { style, nowMs, visible }: ViewContext): string {
  const at = event.at.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
  const age = relativeTime(event.at, nowMs);
  const who = event.agent === null ? event.machine : `${visible(event.agent, 70)}@${event.machine}`;
  const number = event.message_id === undefined ? '' : ` ${style.dim(`#${event.message_id}`)}`;
  const doubt = event.signature === 'bad' ? ` ${style.red('(bad signature)')}` : '';
  const revoked = event.revoked === true ? ` ${style.red('(revoked)')}` : '';
  return `${style.dim(`${visible(at, 40)} (${age})`)} ${style.bold(who)} ${visible(event.subject, 300)}${number}${doubt}${revoked}`;
}
