import type { SendResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import {
  anyObject,
  described,
  flag,
  inputOf,
  integer,
  listOf,
  messageReference,
  outputOf,
  text,
  textOrNull,
} from '../schema-parts.js';
import { ownText } from '../text/quoted.js';

function sendText(result: SendResult, context: TextContext): string {
  const target = result.to_agent === null ? result.to : `${result.to}/${result.to_agent}`;
  const lines = [
    result.duplicate === true
      ? `Already sent with this key: #${result.message_id} (${result.id}), nothing was sent again.`
      : `Sent #${result.message_id} (${result.id}): ${result.msg_type} to ${target}.`,
    `State: ${result.state}. Expires ${result.expires_at}.`,
    result.recipients.length === 0 ? 'Reaches nobody right now.' : `Reaches now: ${result.recipients.join(', ')}.`,
  ];
  if (result.warning !== undefined) lines.push(`WARNING: ${ownText(result.warning, context)}`);
  return lines.join('\n');
}

export const agentSend: MeshTool<SendResult> = {
  name: 'agent_send',
  title: 'Send a message',
  description:
    "Send a short message to the agents of a machine, to one of them, or with to: '*' to everyone. It is stored at once on this disk and pushed to the shared repository as soon as that can be reached, so never send again because the network failed; agent_sent tells how far it got. Everyone with access to the repository can read it, for good: no secrets. A freeze asks others to hold merges until a freeze-clear (payload.repo limits it to one repo). Acts at once, there is no confirm.",
  inputSchema: inputOf(
    {
      to: described(text, "Handle of the machine, from agents_list (this one's own too), or '*' for every machine."),
      msg_type: described(text, 'One of: ping, pr-ready, freeze, freeze-clear, release-out, handoff, note.'),
      to_agent: described(
        text,
        "One agent_id on that machine; it must be checked in. Left out: every agent there. Not with to: '*'.",
      ),
      from_agent: described(
        text,
        'Your own agent_id, so that the reader knows who writes. Left out: the one agent that checked in over this connection.',
      ),
      payload: described(
        anyObject,
        'The content: reason, repo, PR number, branch… At most 16384 bytes (16 KB) as JSON.',
      ),
      in_reply_to: messageReference('The message you answer or clear: its message_id or ULID id.'),
      ttl_seconds: described(
        integer,
        'How long it stays valid, 60-2592000. Left out: 604800 (a week), for a freeze 86400.',
      ),
      key: described(
        text,
        'Your own name for this message: sending again with the same key gives the first one back and sends nothing.',
      ),
      allow_secret: described(flag, 'true: send what looks like a credential, where it is none.'),
    },
    ['to', 'msg_type'],
  ),
  outputSchema: outputOf({
    id: described(text, 'ULID: names the message on every machine.'),
    message_id: described(integer, 'Its number on this machine.'),
    to: text,
    to_agent: textOrNull,
    msg_type: text,
    state: text,
    recipients: described(listOf(text), "Agents it reaches now: agent, or machine/agent for '*'."),
    expires_at: text,
    duplicate: flag,
    warning: text,
  }),
  // Adds a message that others act on; twice is two messages.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  call: (api, args, call) => api.send(args, call),
  text: sendText,
};
