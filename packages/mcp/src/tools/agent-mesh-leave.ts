import type { LeaveResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, flag, inputOf, listOf, outputOf, text } from '../schema-parts.js';
import { ownText } from '../text/quoted.js';

function leaveText({ preview, machine, agents, next }: LeaveResult, context: TextContext): string {
  const who = agents.length === 0 ? 'no agent is' : `${agents.join(', ')} ${agents.length === 1 ? 'is' : 'are'}`;
  return [
    preview
      ? `PREVIEW: nothing was changed. ${machine} would leave the mesh for good; ${who} checked in.`
      : `${machine} has left the mesh for good; ${who} checked out.`,
    ...(next === undefined ? [] : [ownText(next, context)]),
  ].join('\n');
}

export const agentMeshLeave: MeshTool<LeaveResult> = {
  name: 'agent_mesh_leave',
  title: 'Leave the mesh',
  description:
    'Take this machine out of the mesh for good: every agent here is checked out, and its store writes nothing more. There is no way back under this handle. Your user decides. Acts only with confirm: true; without it, a preview.',
  inputSchema: inputOf({ confirm }),
  outputSchema: outputOf({ preview: flag, machine: text, agents: listOf(text), next: text }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.leave(args, call),
  text: leaveText,
};
