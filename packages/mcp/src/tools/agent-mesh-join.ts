import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, inputOf, text } from '../schema-parts.js';
import { setupOptions, setupPreview } from '../setup-tool.js';
import type { SetupResult } from '../setup-tool.js';
import { membershipText, membershipOutput } from '../text/membership.js';

export const agentMeshJoin: MeshTool<SetupResult> = {
  name: 'agent_mesh_join',
  title: 'Join a mesh',
  description:
    'Join the mesh that is in a git repository, or the one that an invitation names. Ask your user first: afterwards this machine reads and writes there. Acts only with confirm: true; without it, a preview. Under the policy roster a member has to admit this machine before anyone reads what it sends; an invitation does that by itself.',
  inputSchema: inputOf(
    {
      url: described(text, 'The repository (an absolute path, host:path or a URL), or an invitation (mesh1.…).'),
      machine: described(text, "This machine's name in the mesh (a-z, 0-9, -). Default: the host's name."),
      label: described(text, 'A longer description of this machine.'),
      confirm,
    },
    ['url'],
  ),
  outputSchema: membershipOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async setUp(setup, args) {
    const { decodeInviteCode, isInviteCode, parseJoinInput } = await import('@git-mesh/core');
    const { url, confirm: isConfirmed, ...identity } = parseJoinInput(args);
    if (!isConfirmed) {
      return setupPreview(setup, {
        ...identity,
        // The code itself holds a secret, and is never repeated.
        remote: setup.redactUrl(isInviteCode(url) ? decodeInviteCode(url).url : url),
        next: 'Show this to your user; call again with confirm: true to join.',
      });
    }
    return { preview: false, ...(await setup.joinMesh({ ...setupOptions(setup, identity), url })) };
  },
  text: (result, context: TextContext) =>
    membershipText(result, context, { would: 'join the mesh', did: 'joined the mesh' }),
};
