import { factsWithoutInviteCodes, withoutInviteCodes } from './domain/invite-mask.js';

/**
 * Every failure that a caller can do something about is a {@link MeshError}. A bug is not one: it stays an
 * ordinary exception with its stack.
 */

/** Error names with the HTTP-like code each one carries. */
export const errorCodes = {
  invalid_argument: 400,
  unknown_argument: 400,
  secret_found: 400,
  no_mesh: 404,
  machine_not_found: 404,
  agent_not_alive: 404,
  unknown_message: 404,
  not_found: 404,
  forbidden: 403,
  not_checked_in: 409,
  handle_taken: 409,
  handle_conflict: 409,
  store_copied: 409,
  mesh_exists: 409,
  machine_left: 409,
  conflict: 409,
  bundle_incomplete: 409,
  history_incomplete: 409,
  cancelled: 409,
  payload_too_large: 413,
  locked: 423,
  store_unusable: 503,
  store_damaged: 503,
  disk_full: 503,
  read_only: 503,
  format_too_new: 503,
  unreachable: 503,
  auth_failed: 503,
  remote_not_found: 503,
  not_a_repository: 503,
  push_refused: 503,
  protocol_error: 503,
  deadline: 503,
  different_mesh: 409,
} as const;

export type ErrorName = keyof typeof errorCodes;

/** JSON-like values that travel with an error and reach the caller as fields beside `code`, `name` and `message`. */
export type ErrorData = Readonly<Record<string, unknown>>;

export class MeshError extends Error {
  override readonly name = 'MeshError';
  readonly errorName: ErrorName;
  /** 400 invalid, 403 not allowed, 404, 409 conflict, 413 too large, 423 locked, 503 store or remote out of reach. */
  readonly code: number;
  readonly data: ErrorData;

  /**
   * `message` says what failed, what was expected and what to do next; it never holds a secret or a stack. What it quotes
   * may be an invitation in the wrong place, and is masked here for everyone who shows it.
   */
  constructor(errorName: ErrorName, message: string, options: { data?: ErrorData; cause?: unknown } = {}) {
    super(withoutInviteCodes(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.errorName = errorName;
    this.code = errorCodes[errorName];
    this.data = factsWithoutInviteCodes(options.data ?? {});
  }
}

export interface ErrorResult {
  error: { code: number; name: ErrorName; message: string } & Record<string, unknown>;
}

/** The one shape in which an error reaches a tool result or `--json`. */
export function errorResult(error: MeshError): ErrorResult {
  return { error: { ...error.data, code: error.code, name: error.errorName, message: error.message } };
}
