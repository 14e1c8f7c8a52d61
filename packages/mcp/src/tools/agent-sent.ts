import type { SentMessage, SentResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import {
  anyObject,
  described,
  inputOf,
  integer,
  listOf,
  objectOf,
  outputOf,
  sync,
  text,
  textOrNull,
} from '../schema-parts.js';
import { ageText } from '../text/age.js';
import { counted, syncLine, who } from '../text/facts.js';
import { payloadText } from '../text/quoted.js';

function sentLines(message: SentMessage, context: TextContext): string[] {
  const { nowMs } = context;
  const facts = [
    `to ${who(message.to, message.to_agent)}`,
    message.from_agent === null ? null : `from ${message.from_agent}`,
    `sent ${ageText(message.sent_at, nowMs)}`,
    message.in_reply_to === null ? null : `answers ${message.in_reply_to}`,
    `id ${message.id}`,
  ];
  const delivered = message.delivered_to.map(({ machine, at }) => `${machine} ${ageText(at, nowMs)}`);
  const acks = message.acks.map(({ machine, agent, at }) => `${who(machine, agent)} ${ageText(at, nowMs)}`);
  const progress = [
    `state ${message.state}`,
    delivered.length === 0 ? null : `delivered to ${delivered.join(', ')}`,
    acks.length === 0 ? null : `read by ${acks.join(', ')}`,
    `expires ${message.expires_at}`,
  ];
  return [
    `#${message.message_id} ${message.msg_type} ${facts.filter((fact) => fact !== null).join('; ')}`,
    `  ${progress.filter((fact) => fact !== null).join('; ')}`,
    `  payload ${payloadText(message.payload, context)}`,
  ];
}

function sentText(result: SentResult, context: TextContext): string {
  return [
    result.messages.length === 0
      ? 'Nothing was sent.'
      : `${counted(result.messages.length, 'sent message')}, newest first:`,
    ...result.messages.flatMap((message) => sentLines(message, context)),
    syncLine(result.sync, context),
  ].join('\n');
}

export const agentSent: MeshTool<SentResult> = {
  name: 'agent_sent',
  title: 'Follow sent messages',
  description:
    'What this machine sent, newest first, and how far each message got: queued (on this disk), pushed (in the shared repository), delivered (fetched by the other machine), acked (read: by whom and when), or expired.',
  inputSchema: inputOf({
    agent_id: described(text, 'Only what this agent sent.'),
    limit: described(integer, 'At most so many messages, 1-100, default 20.'),
  }),
  outputSchema: outputOf({
    messages: listOf(
      objectOf(
        {
          message_id: integer,
          id: text,
          to: text,
          to_agent: textOrNull,
          msg_type: text,
          from_agent: textOrNull,
          payload: anyObject,
          sent_at: text,
          expires_at: text,
          in_reply_to: textOrNull,
          state: described(text, 'queued, pushed, delivered, acked or expired.'),
          pushed_at: textOrNull,
          delivered_at: textOrNull,
          delivered_to: listOf(objectOf({ machine: text, at: text })),
          acks: listOf(objectOf({ machine: text, agent: text, at: text })),
        },
        ['message_id', 'id', 'to', 'msg_type', 'state'],
      ),
    ),
    sync,
  }),
  // Shows only what was written on this machine, and receipts, which are names and times.
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.sent(args, call),
  text: sentText,
};
