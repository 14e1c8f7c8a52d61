import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, inputOf, text } from '../schema-parts.js';
import { setupOptions, setupPreview } from '../setup-tool.js';
import type { SetupResult } from '../setup-tool.js';
import { membershipText, membershipOutput } from '../text/membership.js';

/** What a policy comes to; it is written into the charter. */
const policyWords = {
  open: 'The policy is open, for good: whoever can push there joins, and counts.',
  roster: 'The policy is roster, for good: a member has to admit each machine before anybody reads what it writes.',
} as const;

export const agentMeshCreate: MeshTool<SetupResult> = {
  name: 'agent_mesh_create',
  title: 'Make a new mesh',
  description:
    'Make a new mesh with this machine as its first member, in an empty git repository that the other machines can reach (a bare repository on a disk or share, an ssh or https URL). Your user chooses the repository: everyone who can read it reads every message. Acts only with confirm: true; without it, a preview.',
  inputSchema: inputOf({
    remote: described(
      text,
      'The shared repository: an absolute path, host:path or a URL. Left out: this machine alone.',
    ),
    machine: described(text, "This machine's name in the mesh (a-z, 0-9, -). Default: the host's name."),
    label: described(text, 'A longer description of this machine.'),
    policy: described(text, 'open (default): who can push joins. roster: a member must admit each machine.'),
    confirm,
  }),
  outputSchema: membershipOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async setUp(setup, args) {
    const { parseCreateInput } = await import('@git-mesh/core');
    const { remote, policy, confirm: isConfirmed, ...identity } = parseCreateInput(args);
    if (!isConfirmed) {
      return setupPreview(setup, {
        ...identity,
        remote: remote === undefined ? null : setup.redactUrl(remote),
        next: `${policyWords[policy]} Show this to your user; call again with confirm: true to make the mesh.`,
      });
    }
    const options = { ...setupOptions(setup, identity), policy, ...(remote === undefined ? {} : { remote }) };
    return { preview: false, ...(await setup.initMesh(options)) };
  },
  text: (result, context: TextContext) =>
    membershipText(result, context, { would: 'make a mesh', did: 'made the mesh' }),
};
