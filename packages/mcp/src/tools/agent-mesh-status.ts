import type { RemoteStatus, StatusResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import { described, inputOf, integer, listOf, objectOf, outputOf, text } from '../schema-parts.js';
import { ageText } from '../text/age.js';
import { counted } from '../text/facts.js';
import { problemLine } from '../text/problem-line.js';
import { ownText, quoted } from '../text/quoted.js';

/** The answer where there is no mesh: not an error, since that is what was asked. */
export interface NoMeshStatus {
  mesh: null;
  /** Where this server looks for one: a path on this machine. */
  store: string;
  next: string;
}

function nextTry(at: string | null, nowMs: number): string {
  if (at === null) return '';
  return `; next try ${Date.parse(at) <= nowMs ? 'at the next exchange' : ageText(at, nowMs)}`;
}

function remoteLines(remote: RemoteStatus, context: TextContext): string[] {
  const last = remote.last_ok_at === null ? 'never reached' : `reached ${ageText(remote.last_ok_at, context.nowMs)}`;
  const queued = remote.queued === 0 ? '' : `; ${counted(remote.queued, 'commit')} waiting to go out`;
  const lines = [
    `- remote ${quoted(remote.name, context, 60)} ${context.visible(remote.url, 2000)}: ${remote.state}, ${last}${queued}`,
  ];
  if (remote.error !== null) {
    const next = nextTry(remote.next_try_at, context.nowMs);
    lines.push(`  ${context.visible(remote.error.name, 60)}: ${quoted(remote.error.message, context, 2000)}${next}`);
  }
  return lines;
}

function statusText(result: StatusResult | NoMeshStatus, context: TextContext): string {
  if (result.mesh === null) return `${ownText(result.next, context)}\nStore: ${context.visible(result.store, 1000)}`;
  const { worker } = result;
  return [
    `Mesh ${quoted(result.mesh.name, context, 100)} (${result.mesh.id}), policy ${result.policy}, format ${result.format}.`,
    `This machine: ${result.machine}. Store: ${context.visible(result.store, 1000)}`,
    `Agents: ${result.agents.alive} alive of ${result.agents.known} known. Highest message number: ${result.journal.highest}.`,
    worker === null
      ? 'Worker: none is running.'
      : `Worker: process ${worker.pid}, started ${ageText(worker.since, context.nowMs)}.`,
    ...(result.remotes.length === 0 ? ['No remote: a mesh of this machine alone.'] : []),
    ...result.remotes.flatMap((remote) => remoteLines(remote, context)),
    ...(result.history === undefined
      ? []
      : [
          `Older history, which holds nothing live, was not fetched: ${counted(result.history.older_commits, 'commit')}.`,
        ]),
    result.problems.length === 0
      ? 'No problems.'
      : `${counted(result.problems.length, 'problem')} (\`git-mesh doctor\` says more):`,
    ...result.problems.map((problem) => problemLine(problem, context)),
  ].join('\n');
}

/** The use case takes no arguments, so those that came are refused here. */
async function refuseArguments(args: unknown): Promise<void> {
  const names = typeof args === 'object' && args !== null ? Object.keys(args) : [];
  if (names.length === 0) return;
  const { MeshError, visibleText } = await import('@git-mesh/core');
  const shown = names.slice(0, 5).map((name) => `"${visibleText(name, { maxLength: 40 })}"`);
  throw new MeshError(
    'unknown_argument',
    `agent_mesh_status takes no arguments, got ${shown.join(', ')}; leave them out`,
  );
}

export const agentMeshStatus: MeshTool<StatusResult | NoMeshStatus> = {
  name: 'agent_mesh_status',
  title: "Show the mesh's state",
  description:
    'Whether this machine is in a mesh, and how it is: its remotes and when each was last reached, the worker that synchronises, and the problems found. Where there is no mesh yet it says how to make or join one.',
  inputSchema: inputOf({}),
  outputSchema: outputOf({
    mesh: { type: ['object', 'null'], properties: { id: text, name: text }, description: 'null: no mesh here yet.' },
    machine: text,
    store: described(text, "The store's folder on this machine."),
    format: integer,
    policy: text,
    worker: { type: ['object', 'null'], properties: { state: text, pid: integer, since: text } },
    remotes: listOf(objectOf({})),
    agents: objectOf({}),
    journal: objectOf({}),
    history: objectOf({}),
    problems: listOf(objectOf({})),
    next: text,
  }),
  // Problems name files and branches as strangers wrote them.
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async call(api, args) {
    await refuseArguments(args);
    return api.status();
  },
  text: statusText,
  async withoutMesh({ store, advice }, args) {
    await refuseArguments(args);
    return { mesh: null, store, next: advice };
  },
};
