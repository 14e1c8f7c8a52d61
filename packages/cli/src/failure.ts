import { CommanderError } from 'commander';
import { cliMessage } from './cli-words.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { OutputError } from './process-sink.js';
import type { TypedCommand } from './typed-name.js';
import { UsageError } from './usage-error.js';

/** How a command failed, ready to be shown. */
export interface Failure {
  exitCode: number;
  /** The document that `--json` prints. */
  result: { error: { code: number; name: string; message: string } & Record<string, unknown> };
  message: string;
  /** Of unexpected errors and those that the system gave out of turn: shown with `--verbose`. */
  stack: string | null;
  /** The caller itself ended the command, by a signal. */
  cancelled: boolean;
}

function usage(message: string): Failure {
  const result = { error: { code: 400, name: 'invalid_argument', message } };
  return { exitCode: exitCodes.usage, result, message, stack: null, cancelled: false };
}

const stackOf = (error: unknown): string | null => (error instanceof Error ? (error.stack ?? null) : null);

/** Tells apart what a person can mend from a bug. `command` is the one that was typed, once that is known. */
export async function describeFailure(error: unknown, command?: TypedCommand): Promise<Failure> {
  const { factsWithoutInviteCodes } = await import('@git-mesh/core');
  // What was typed may be an invitation, which is a secret: as a wrong command's name, say, or as a handle.
  return factsWithoutInviteCodes(await describe(error, command));
}

async function describe(error: unknown, command: TypedCommand | undefined): Promise<Failure> {
  if (error instanceof UsageError) return usage(error.message);
  if (error instanceof CommanderError) return usage(error.message.replace(/^error: /, '').replaceAll('\n', ' '));
  if (error instanceof OutputError) {
    const { message } = error;
    const result = { error: { code: 500, name: 'output_failed', message } };
    return { exitCode: exitCodes.unprinted, result, message, stack: null, cancelled: false };
  }
  const { MeshError, errorResult, systemFailure } = await import('@git-mesh/core');
  const refused = systemFailure(error);
  const told = refused ?? error;
  if (told instanceof MeshError) {
    const message = cliMessage(told, command);
    return {
      exitCode: exitCodeOf(told.errorName),
      result: { error: { ...errorResult(told).error, message } },
      message,
      stack: refused === null ? null : stackOf(error),
      cancelled: told.errorName === 'cancelled',
    };
  }
  const reason = error instanceof Error ? error.message : String(error);
  const message = `unexpected error: ${reason} (a bug in git-mesh: --verbose shows where, please report it)`;
  return {
    exitCode: exitCodes.unexpected,
    result: { error: { code: 500, name: 'unexpected', message } },
    message,
    stack: stackOf(error),
    cancelled: false,
  };
}
