import type { InboxMessage, InboxResult } from '@git-mesh/core';
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

export const inboxView: Render<InboxResult> = (result, context) => {
  const { style, visible } = context;
  const warnings = syncWarnings(result.sync, context);
  const last = result.messages.at(-1);
  if (last === undefined) return { text: `No messages for ${result.agent_id}.`, kind: 'answer', warnings };
  const lines = result.messages.flatMap((message) => [...messageLines(message, context), '']);
  if (result.remaining > 0) {
    lines.push(`${result.remaining} more: git-mesh inbox ${result.agent_id} --after ${last.message_id}`);
  }
  lines.push(style.dim(visible(result.notice, 500)));
  lines.push(style.dim(`Read? git-mesh ack ${result.agent_id} ${last.message_id}`));
  return { text: lines.join('\n'), kind: 'answer', warnings };
};
