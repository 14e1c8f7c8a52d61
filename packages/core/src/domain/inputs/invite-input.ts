import { readArguments } from './arguments.js';

export interface InviteInput {
  /** The name of the remote to which the invitation leads; the first one, or origin, where left out. */
  remote: string | null;
  confirm: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseInviteInput(input: unknown): InviteInput {
  const given = readArguments('agent_mesh_invite', ['remote', 'confirm'], input);
  return {
    remote: given.text('remote', { max: 100, filled: true }) ?? null,
    confirm: given.flag('confirm') ?? false,
  };
}
