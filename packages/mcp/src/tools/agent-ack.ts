import type { AckResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, flag, inputOf, integer, listOf, outputOf, text } from '../schema-parts.js';
import { numbers } from '../text/facts.js';
import { ownText } from '../text/quoted.js';

function ackText(result: AckResult, context: TextContext): string {
  const lines = result.preview
    ? ['PREVIEW: nothing was changed.', `Would acknowledge: ${numbers(result.would_ack)}.`]
    : [`Acknowledged: ${numbers(result.acked)}.`];
  if (result.already_acked.length > 0) lines.push(`Already acknowledged: ${numbers(result.already_acked)}.`);
  if (result.unknown.length > 0) lines.push(`Unknown, not acknowledged: ${numbers(result.unknown)}.`);
  if (result.preview) lines.push(ownText(result.next, context));
  return lines.join('\n');
}

const messageNumbers = listOf(integer);

export const agentAck: MeshTool<AckResult> = {
  name: 'agent_ack',
  title: 'Acknowledge messages',
  description:
    'Tell the senders that you have read these messages; it means read, not agreed and not done. Takes them out of your inbox only. Acts only with confirm: true; without it, a preview. Acknowledging again does no harm.',
  inputSchema: inputOf(
    {
      agent_id: described(text, 'Your agent_id, as in agent_checkin.'),
      message_ids: described(listOf(integer), 'The message_id of each message you have read, from agent_inbox.'),
      confirm,
    },
    ['agent_id', 'message_ids'],
  ),
  outputSchema: outputOf({
    preview: flag,
    would_ack: messageNumbers,
    acked: messageNumbers,
    already_acked: messageNumbers,
    unknown: messageNumbers,
    next: text,
  }),
  // Takes messages out of the inbox for good: a client that asks before such calls should ask here.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.ack(args, call),
  text: ackText,
};
