import type { InboxMessage, InboxResult } from '@git-mesh/core';
import { rowsOf } from '../display-width.js';
import { relativeTime } from '../relative-time.js';
import type { Render, ViewContext } from '../view.js';
import { payloadLines } from './payload.js';
import { syncWarnings } from './sync-warnings.js';

function messageLines(message: InboxMessage, context: ViewContext): string[] {
  const { style, nowMs } = context;
  const { machine, agent, verified } = message.from;
  const facts = [
    `from ${agent === null ? machine : `${agent}@${machine}`}${verified === 'unverified' ? style.yellow(' (unverified)') : ''}`,
    relativeTime(message.sent_at, nowMs),
    message.directed ? 'to you' : 'to every agent here',
    message.in_reply_to === null ? null : `answers ${message.in_reply_to}`,
  ].filter((fact) => fact !== null);
  const heading = `${style.bold(`#${message.message_id}`)} ${style.cyan(message.msg_type)} ${facts.join(' · ')}`;
  return [heading, ...payloadLines(message.payload, context)];
}

const mostNumbers = 10;

/** What is shown, for a command line that can be copied. */
function toAck({ messages, remaining }: InboxResult): string {
  if (messages.length > mostNumbers && remaining === 0) return '--all';
  return messages.slice(0, mostNumbers).map(({ message_id }) => message_id).join(' '); // prettier-ignore
}

export const inboxView: Render<InboxResult> = (result, context) => {
  const { style, visible } = context;
  const warnings = syncWarnings(result.sync, context);
  const last = result.messages.at(-1);
  if (last === undefined) return { text: `No messages for ${result.agent_id}.`, kind: 'answer', warnings };
  const lines = result.messages.flatMap((message) => [...messageLines(message, context), '']);
  if (result.remaining > 0) {
    lines.push(`${result.remaining} more: git-mesh inbox ${result.agent_id} --after ${last.message_id}`);
  }
  const words = rowsOf(visible(result.notice, 500), context.columns ?? Number.POSITIVE_INFINITY);
  lines.push(
    ...words.map((row) => style.dim(row)),
    style.dim(`Read? git-mesh ack ${result.agent_id} ${toAck(result)}`),
  );
  return { text: lines.join('\n'), kind: 'answer', warnings };
};
