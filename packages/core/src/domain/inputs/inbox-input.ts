import type { AgentId, Ulid } from '../ids.js';
import { readArguments } from './arguments.js';

export interface InboxInput {
  agent_id: AgentId;
  limit: number;
  after: Ulid | number | undefined;
  wait_seconds: number;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseInboxInput(input: unknown): InboxInput {
  const given = readArguments('agent_inbox', ['agent_id', 'limit', 'after', 'wait_seconds'], input);
  return {
    agent_id: given.required('agent_id', given.agent('agent_id')),
    limit: given.integer('limit', { min: 1, max: 100 }) ?? 50,
    after: given.raw('after') === 0 ? undefined : given.message('after'),
    // Clients give up at 60 s.
    wait_seconds: given.integer('wait_seconds', { min: 0, max: 45 }) ?? 0,
  };
}
