import type { AgentId } from '../ids.js';
import { readArguments } from './arguments.js';

export interface CheckoutInput {
  agent_id: AgentId;
  confirm: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseCheckoutInput(input: unknown): CheckoutInput {
  const given = readArguments('agent_checkout', ['agent_id', 'confirm'], input);
  return {
    agent_id: given.required('agent_id', given.agent('agent_id')),
    confirm: given.flag('confirm') ?? false,
  };
}
