import type { AgentsResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import {
  anyObject,
  described,
  flag,
  freezes,
  inputOf,
  listOf,
  objectOf,
  outputOf,
  recordFields,
  sync,
  text,
  textOrNull,
} from '../schema-parts.js';
import { ageText } from '../text/age.js';
import { agentLine, counted, freezeLines, syncLine } from '../text/facts.js';
import { problemLine } from '../text/problem-line.js';
import { quoted } from '../text/quoted.js';

function machineLines(result: AgentsResult, context: TextContext): string[] {
  return result.machines.map((machine) => {
    const seen = machine.last_seen_at === null ? 'never seen' : `seen ${ageText(machine.last_seen_at, context.nowMs)}`;
    const left = machine.left_at === undefined ? '' : `, left at ${machine.left_at}`;
    const here = machine.handle === result.machine;
    const label = machine.label === null ? '' : `, label ${quoted(machine.label, context, 80)}`;
    return `- ${machine.handle}: ${here ? 'this machine' : `${seen}, ${machine.verified}`}${left}${label}`;
  });
}

function agentsText(result: AgentsResult, context: TextContext): string {
  return [
    ...freezeLines(result.freezes, context),
    `${counted(result.agents.length, 'agent')}${result.agents.length === 0 ? ': nobody is checked in.' : ' (what stands in quotation marks is their own claim):'}`,
    ...result.agents.map((agent) => `- ${agentLine(agent, context)}`),
    `${counted(result.machines.length, 'machine')}:`,
    ...machineLines(result, context),
    syncLine(result.sync, context),
    ...(result.problems ?? []).map((problem) => problemLine(problem, context)),
  ].join('\n');
}

export const agentsList: MeshTool<AgentsResult> = {
  name: 'agents_list',
  title: 'List agents and machines',
  description:
    'Who is in the mesh: the agents of all machines with role, repo, status and its age, the machines, the freezes in force, and how current all this is (sync). Look here before you message someone, and before you merge or release.',
  inputSchema: inputOf({
    agent_id: described(text, 'Your own agent_id: asking renews your presence.'),
    include_stale: described(flag, 'true: also agents whose time ran out within the last day, and machines that left.'),
  }),
  outputSchema: outputOf({
    machine: described(text, "This machine's handle."),
    agents: listOf(objectOf(recordFields, ['machine', 'agent_id', 'alive'])),
    machines: listOf(
      objectOf(
        {
          handle: text,
          label: textOrNull,
          last_seen_at: textOrNull,
          verified: described(text, 'signed, first-seen or unverified.'),
          left_at: described(text, 'Only of a machine that left the mesh.'),
        },
        ['handle', 'verified'],
      ),
    ),
    freezes,
    sync,
    problems: listOf(anyObject),
  }),
  // The statuses and reasons it shows are what others wrote.
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  call: (api, args, call) => api.agents(args, call),
  text: agentsText,
};
