import { CommanderError, type Command } from 'commander';
import { exitCodes } from './exit-code.js';
import { describeFailure } from './failure.js';
import { jsonLine } from './json-text.js';
import { plainBehind, plainLine } from './plain-text.js';
import { OutputError } from './process-sink.js';
import { createProgram } from './program.js';
import type { Runtime, TextSink } from './runtime.js';
import { signalExitCode } from './signal-exit-code.js';
import { chooseStyle } from './style.js';
import { UsageError } from './usage-error.js';

/** The arguments before `--`: an error in them may come before they are parsed. */
function asked(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes(flag);
}

/** Help that is shown because something was missing is an error; `commander.help` is also what `git-mesh help X` throws. */
function missingCommand(error: CommanderError, argv: readonly string[]): UsageError | null {
  if (error.code !== 'commander.help') return null;
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words[0] === 'help' && words[1] !== undefined) {
    return new UsageError(`unknown command '${words[1]}' (git-mesh --help lists the commands)`);
  }
  return new UsageError('which command? git-mesh --help lists them');
}

/** Says where a command's arguments are explained, unless the error itself says what was meant. */
function withWayOn(error: CommanderError, commands: readonly Command[], argv: readonly string[]): UsageError {
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const command = commands.find((each) => argv.includes(each.name()));
  if (error.code === 'commander.unknownCommand' && !message.includes('Did you mean')) {
    return new UsageError(`${message} (git-mesh --help lists the commands)`);
  }
  const explained = message.includes('Did you mean') || command === undefined;
  return new UsageError(explained ? message : `${message} (git-mesh help ${command.name()} shows how)`);
}

/** Carries out one command line. Resolves to the exit code; whatever was printed has been handed over by then. */
export async function runCli(runtime: Runtime): Promise<number> {
  const [first, second] = runtime.argv;
  const aboutAll = first === undefined || (first === 'help' && second === 'help');
  const argv = aboutAll ? ['--help', ...runtime.argv.slice(2)] : [...runtime.argv];
  let typed: Command | undefined;
  const begin = (command: Command): void => {
    typed = command;
  };
  try {
    return await carryOut(runtime, argv, begin);
  } catch (error) {
    return await fail(runtime, error, typed);
  }
}

async function carryOut(runtime: Runtime, argv: readonly string[], begin: (command: Command) => void): Promise<number> {
  let exitCode: number = exitCodes.done;
  let helpText = '';
  const program = createProgram(runtime, {
    argv,
    begin,
    report: (code) => {
      exitCode = code;
    },
    writeOut: (text) => {
      helpText += text;
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Its exit code says nothing of help: Commander takes the process's own, which is no success before the end of a run.
    const isAskedFor = error.code === 'commander.help' ? helpText !== '' : error.exitCode === 0;
    if (!isAskedFor) throw missingCommand(error, argv) ?? withWayOn(error, program.commands, argv);
    const field = error.code === 'commander.version' ? 'version' : 'help';
    await runtime.stdout.write(asked(argv, '--json') ? jsonLine({ [field]: helpText.trimEnd() }) : helpText);
    runtime.keepCode();
  }
  return exitCode;
}

async function fail(runtime: Runtime, error: unknown, typed: Command | undefined): Promise<number> {
  const failure = await describeFailure(error, typed);
  if (failure.cancelled) return signalExitCode(runtime.interruption().reason);
  const { stdout, stderr, env, argv } = runtime;
  const printed = asked(argv, '--json') && (await printedJson(stdout, failure.result));
  if (!printed)
    await stderr.write(`${chooseStyle(stderr.isTerminal, env).red('git-mesh:')} ${plainLine(failure.message)}\n`);
  if (failure.stack !== null && asked(argv, '--verbose')) await stderr.write(`${plainBehind('  │ ', failure.stack)}\n`);
  return failure.exitCode === exitCodes.usage && isHook(argv) ? exitCodes.unexpected : failure.exitCode;
}

/** Clients take 2, which a wrong argument ends with elsewhere, for a hook that forbids what the agent is about to do. */
function isHook(argv: readonly string[]): boolean {
  const [name] = argv.filter((word, index) => !word.startsWith('-') && argv[index - 1] !== '--dir');
  return name === 'hook';
}

/** False where stdout itself fails, so that stderr is all that is left. */
async function printedJson(stdout: TextSink, document: unknown): Promise<boolean> {
  try {
    await stdout.write(jsonLine(document));
    return true;
  } catch (error) {
    if (error instanceof OutputError) return false;
    throw error;
  }
}
