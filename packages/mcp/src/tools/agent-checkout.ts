import type { CheckoutResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, flag, inputOf, outputOf, text } from '../schema-parts.js';
import { who } from '../text/facts.js';
import { ownText } from '../text/quoted.js';

function checkoutText(result: CheckoutResult, context: TextContext): string {
  const agent = who(result.machine, result.agent_id);
  if (!result.preview) return `Checked out: ${agent} has left.`;
  const next = result.next === undefined ? [] : [ownText(result.next, context)];
  return [`PREVIEW: nothing was changed. ${agent} would leave.`, ...next].join('\n');
}

export const agentCheckout: MeshTool<CheckoutResult> = {
  name: 'agent_checkout',
  title: 'Check out of the mesh',
  description:
    'End your session now instead of letting it run out: others no longer see you as alive, and what you have not read stays behind (a later session does not get it in its inbox). Acts only with confirm: true; without it, a preview.',
  inputSchema: inputOf({ agent_id: described(text, 'Your agent_id, as in agent_checkin.'), confirm }, ['agent_id']),
  outputSchema: outputOf({ preview: flag, agent_id: text, machine: text, next: text }),
  // Ends the session and its inbox.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.checkout(args, call),
  text: checkoutText,
};
