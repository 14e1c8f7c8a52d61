import type { InviteResult } from '@git-mesh/core';
import type { MeshTool } from '../mesh-tool.js';
import { confirm, described, flag, inputOf, objectOf, outputOf, text, textOrNull } from '../schema-parts.js';
import { ownText, quoted } from '../text/quoted.js';

export const agentMeshInvite: MeshTool<InviteResult> = {
  name: 'agent_mesh_invite',
  title: 'Invite a machine',
  description:
    'Make a code by which one machine can join within 15 minutes (agent_mesh_join there); this machine admits it by itself. The code is a secret: give it to your user alone, never into a message, a file or a log. Acts only with confirm: true; without it, a preview.',
  inputSchema: inputOf({
    remote: described(text, 'The name of the remote that the code leads to. Default: origin, else the first.'),
    confirm,
  }),
  outputSchema: outputOf({
    preview: flag,
    machine: text,
    key: text,
    mesh: objectOf({}),
    code: textOrNull,
    expires_at: textOrNull,
    next: text,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  call: (api, args, call) => api.invite(args, call),
  text: (result, context) =>
    [
      result.preview
        ? 'PREVIEW: nothing was changed. A machine would be invited.'
        : `An invitation to the mesh ${quoted(result.mesh.name, context, 100)}, for one machine, until ${result.expires_at ?? ''}:`,
      ...(result.code === null ? [] : [context.visible(result.code, 4000)]),
      ...(result.next === undefined ? [] : [ownText(result.next, context)]),
    ].join('\n'),
};
