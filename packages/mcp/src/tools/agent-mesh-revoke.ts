import type { RevokeResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { confirm, described, flag, inputOf, integer, objectOf, outputOf, text } from '../schema-parts.js';
import { ownText } from '../text/quoted.js';

function revokeText(result: RevokeResult, context: TextContext): string {
  const { machine, key, through, binds } = result;
  const where = binds === 'everywhere' ? 'on every machine' : 'on this machine; others are shown it';
  const what = `${machine} (${key}) ${result.preview ? 'would be' : 'is'} believed up to commit ${through.seq} and no further, ${where}.`;
  const next = result.next === undefined ? [] : [ownText(result.next, context)];
  return [result.preview ? `PREVIEW: nothing was changed. ${what}` : what, ...next].join('\n');
}

export const agentMeshRevoke: MeshTool<RevokeResult> = {
  name: 'agent_mesh_revoke',
  title: 'Revoke a machine',
  description:
    'Say that a machine is believed no further than what is here of it now: its agents leave the lists, its freezes end, its later messages reach nobody; what it wrote stays in the history. Your user decides. Acts only with confirm: true; without it, a preview.',
  inputSchema: inputOf({ machine: described(text, 'Its handle.'), confirm }, ['machine']),
  outputSchema: outputOf({
    preview: flag,
    machine: text,
    key: text,
    through: objectOf({ seq: integer, commit: text }),
    binds: text,
    next: text,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  call: (api, args, call) => api.revoke(args, call),
  text: revokeText,
};
