import type { Command } from 'commander';
import { checkGiven } from './check-given.js';
import { Invocation, type GlobalOptions } from './invocation.js';
import type { ProgramOptions } from './program.js';
import type { Runtime } from './runtime.js';

/** What a command's file gets to register itself with. */
export interface Cli {
  readonly runtime: Runtime;
  /** The whole program, for `completion`. */
  readonly program: Command;
  /** Carries out `body`; what it resolves to is the exit code. `noisy` logs even without `--verbose`. */
  run(command: Command, body: (call: Invocation) => Promise<number>, options?: { noisy?: boolean }): Promise<void>;
}

/** The global options may stand before or after the command's name; the later one holds. */
function globalsOf(command: Command): GlobalOptions {
  return { ...command.parent?.opts<GlobalOptions>(), ...command.opts<GlobalOptions>() };
}

export function createCli(
  runtime: Runtime,
  program: Command,
  { report, begin }: Pick<ProgramOptions, 'report' | 'begin'>,
): Cli {
  return {
    runtime,
    program,
    async run(command, body, { noisy = false } = {}) {
      begin(command);
      checkGiven(command);
      report(await body(new Invocation(runtime, globalsOf(command), noisy)));
      // Those that stay keep it early, if at all: the engine drops what has not run for long.
      if (!noisy) runtime.keepCode();
    },
  };
}
