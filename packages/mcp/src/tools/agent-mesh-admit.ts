import type { AdmitResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, flag, inputOf, outputOf, text } from '../schema-parts.js';
import { ownText } from '../text/quoted.js';

function admitText(result: AdmitResult, context: TextContext): string {
  const { machine, key } = result;
  const next = result.next === undefined ? [] : [ownText(result.next, context)];
  if (result.preview) return [`PREVIEW: nothing was changed. ${machine} has the key ${key}.`, ...next].join('\n');
  return [`${result.already ? 'Admitted before' : 'Admitted'}: ${machine}, with the key ${key}.`, ...next].join('\n');
}

export const agentMeshAdmit: MeshTool<AdmitResult> = {
  name: 'agent_mesh_admit',
  title: 'Admit a machine',
  description:
    "Say that a machine belongs to the mesh: under the policy roster for everyone, under open for this machine (its messages are then `signed`). Your user decides: show the preview's key fingerprint, which they compare with what git mesh keys shows on that machine, by another way than the mesh. Acts only with confirm: true; without it, a preview.",
  inputSchema: inputOf(
    {
      machine: described(text, 'Its handle.'),
      key: described(text, 'The fingerprint that was compared (SHA256:…): any other key is refused.'),
      confirm,
    },
    ['machine'],
  ),
  outputSchema: outputOf({ preview: flag, machine: text, key: text, already: flag, next: text }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.admit(args, call),
  text: admitText,
};
