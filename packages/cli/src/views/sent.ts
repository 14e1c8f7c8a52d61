import type { JsonObject, MessageState, SentMessage, SentResult } from '@git-mesh/core';
import { relativeTime } from '../relative-time.js';
import type { Style } from '../style.js';
import { renderTable, type Cell, type Column } from '../table.js';
import type { Render, ViewContext } from '../view.js';
import { syncWarnings } from './sync-warnings.js';

const columns: readonly Column[] = [
  { header: '#', align: 'right', leads: true },
  { header: 'TYPE', leads: true },
  { header: 'FROM' },
  { header: 'TO' },
  { header: 'SENT' },
  { header: 'STATE' },
  { header: 'READ BY', shrinks: true },
  { header: 'PAYLOAD', shrinks: true },
];

function paintOf(state: MessageState, style: Style): (text: string) => string {
  switch (state) {
    case 'acked':
      return style.green;
    case 'delivered':
      return style.cyan;
    case 'queued':
      return style.yellow;
    case 'expired':
      return style.red;
    case 'pushed':
      return String;
  }
}

/** The words of what is nothing but words; else the JSON. */
function payloadText(payload: JsonObject): string {
  const { message, ...rest } = payload;
  return typeof message === 'string' && Object.keys(rest).length === 0
    ? message.replace(/\s+/g, ' ')
    : JSON.stringify(payload);
}

function row(message: SentMessage, { style, nowMs, visible }: ViewContext): Cell[] {
  return [
    `#${message.message_id}`,
    message.msg_type,
    message.from_agent ?? '',
    message.to_agent === null ? message.to : `${message.to_agent}@${message.to}`,
    relativeTime(message.sent_at, nowMs),
    { text: message.state, paint: paintOf(message.state, style) },
    message.acks.map(({ agent, machine, at }) => `${agent}@${machine} ${relativeTime(at, nowMs)}`).join(', '),
    visible(payloadText(message.payload), 200),
  ];
}

export const sentView: Render<SentResult> = (result, context) => {
  const warnings = syncWarnings(result.sync, context);
  if (result.messages.length === 0) return { text: 'Nothing sent.', kind: 'answer', warnings };
  const rows = result.messages.map((message) => row(message, context));
  const options = { availableColumns: context.columns, paintHeader: context.style.dim };
  return { text: renderTable(columns, rows, options), kind: 'answer', warnings };
};
