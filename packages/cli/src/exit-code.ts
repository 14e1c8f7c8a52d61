import type { ErrorName } from '@git-mesh/core';

/** The documented exit codes. */
export const exitCodes = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unreachable: 5,
  /** Carried out, but its result could not be printed. */
  unprinted: 6,
  noMesh: 10,
  frozen: 20,
} as const;

/** The exit code that an error of this name ends the command with. */
export function exitCodeOf(name: ErrorName): number {
  switch (name) {
    case 'invalid_argument':
    case 'unknown_argument':
    case 'secret_found':
    case 'payload_too_large':
      return exitCodes.usage;
    case 'machine_not_found':
    case 'agent_not_alive':
    case 'unknown_message':
    case 'not_found':
      return exitCodes.notFound;
    case 'forbidden':
    case 'not_checked_in':
    case 'handle_taken':
    case 'handle_conflict':
    case 'store_copied':
    case 'machine_left':
    case 'mesh_exists':
    case 'conflict':
    case 'bundle_incomplete':
    case 'history_incomplete':
    case 'cancelled':
    case 'different_mesh':
      return exitCodes.conflict;
    case 'locked':
    case 'store_unusable':
    case 'store_damaged':
    case 'disk_full':
    case 'read_only':
    case 'format_too_new':
    case 'unreachable':
    case 'auth_failed':
    case 'remote_not_found':
    case 'not_a_repository':
    case 'push_refused':
    case 'protocol_error':
    case 'deadline':
      return exitCodes.unreachable;
    case 'no_mesh':
      return exitCodes.noMesh;
  }
}
