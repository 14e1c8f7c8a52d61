import type { AgentId } from '../ids.js';
import { readArguments } from './arguments.js';

export interface SentInput {
  agent_id: AgentId | undefined;
  limit: number;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseSentInput(input: unknown): SentInput {
  const given = readArguments('agent_sent', ['agent_id', 'limit'], input);
  return { agent_id: given.agent('agent_id'), limit: given.integer('limit', { min: 1, max: 100 }) ?? 20 };
}
