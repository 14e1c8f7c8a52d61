import type { ObjectSchema } from '../json-schema.js';
import type { TextContext } from '../mesh-tool.js';
import { flag, listOf, objectOf, outputOf, text, textOrNull } from '../schema-parts.js';
import type { SetupResult } from '../setup-tool.js';
import { ownText, quoted } from './quoted.js';

/** Of agent_mesh_create and agent_mesh_join. */
export const membershipOutput: ObjectSchema = outputOf({
  preview: flag,
  remote: textOrNull,
  mesh: objectOf({}),
  machine: text,
  store: text,
  remotes: listOf(objectOf({})),
  writable: flag,
  warning: text,
  next: text,
});

export function membershipText(
  result: SetupResult,
  context: TextContext,
  { would, did }: { would: string; did: string },
): string {
  if (result.preview) {
    const where = result.remote === null ? ', of this machine alone' : ` at ${context.visible(result.remote, 2000)}`;
    return [`PREVIEW: nothing was changed. This machine would ${would}${where}.`, ownText(result.next, context)].join(
      '\n',
    );
  }
  return [
    `This machine ${did} ${quoted(result.mesh.name, context, 100)} as ${result.machine}.`,
    `Store: ${context.visible(result.store, 1000)}`,
    ...result.remotes.map(({ name, url }) => `Remote ${quoted(name, context, 60)}: ${context.visible(url, 2000)}`),
    ...(result.writable ? [] : ['This machine can only read there.']),
    ...(result.warning === undefined ? [] : [`Warning: ${ownText(result.warning, context)}`]),
    'Next: agent_checkin with confirm: true.',
  ].join('\n');
}
