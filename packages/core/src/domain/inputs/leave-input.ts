import { readArguments } from './arguments.js';

interface LeaveInput {
  confirm: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseLeaveInput(input: unknown): LeaveInput {
  const given = readArguments('agent_mesh_leave', ['confirm'], input);
  return { confirm: given.flag('confirm') ?? false };
}
