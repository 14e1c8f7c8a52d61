import { readArguments } from './arguments.js';

interface RotateKeyInput {
  confirm: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseRotateKeyInput(input: unknown): RotateKeyInput {
  const given = readArguments('agent_mesh_rotate_key', ['confirm'], input);
  return { confirm: given.flag('confirm') ?? false };
}
