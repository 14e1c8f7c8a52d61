import type { AgentId } from '../ids.js';
import { readArguments } from './arguments.js';

export interface AgentsInput {
  agent_id: AgentId | undefined;
  include_stale: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseAgentsInput(input: unknown): AgentsInput {
  const given = readArguments('agents_list', ['agent_id', 'include_stale'], input);
  return { agent_id: given.agent('agent_id'), include_stale: given.flag('include_stale') ?? false };
}
