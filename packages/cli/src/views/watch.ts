import type { InboxMessage } from '@git-mesh/core';
import type { ViewContext } from '../view.js';

const maxPayload = 500;

/** A message as one line: number, type, sender, and the payload as JSON, which no text of it can leave. */
export function watchLine(message: InboxMessage, { style, visible }: ViewContext): string {
  const { machine, agent, verified } = message.from;
  const from = agent === null ? machine : `${agent}@${machine}`;
  const doubt = verified === 'unverified' ? ` ${style.yellow('(unverified)')}` : '';
  const payload = visible(JSON.stringify(message.payload), maxPayload);
  return `${style.bold(`#${message.message_id}`)} ${style.cyan(message.msg_type)} ${visible(from, 120)}${doubt} ${payload}`;
}
