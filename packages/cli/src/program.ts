import { Command, Help, Option } from 'commander';
import { createCli } from './cli.js';
import { commandGroups } from './commands.js';
import { examples, narrowItem, wrapped } from './help-text.js';
import type { Runtime } from './runtime.js';
import { terminalColumns } from './terminal-columns.js';

const globalOptions = (): Option[] => [
  new Option('--dir <dir>', 'the store to use (else GIT_MESH_DIR, git config mesh.dir, a per-user default)'),
  new Option('--json', 'print the result as one JSON document'),
  new Option('--quiet', 'print only results and errors').conflicts('verbose'),
  new Option('--verbose', 'say on stderr what is being done'),
];
const exitCodesText =
  'Exit codes: 0 done; 1 unexpected, and problems that doctor found; 2 wrong usage or input; 3 not found; 4 conflict or not ' +
  'allowed; 5 store or remote out of reach; 6 done, but the result could not be printed; 10 no mesh here; 20 a freeze is in ' +
  'force (guard).';
const globalOptionsHeading = 'Global options:';

/** Every command takes the global options too, so that they may stand before or after its name. */
function addGlobalOptions(command: Command): void {
  command.optionsGroup(globalOptionsHeading);
  for (const option of globalOptions()) command.addOption(option);
  command.helpOption('-h, --help', 'show this help');
}

export interface ProgramOptions {
  /** What will be parsed. */
  argv: readonly string[];
  /** Called with the command that was typed, before it does anything. */
  begin: (command: Command) => void;
  /** Called with the exit code of the command that ran. */
  report: (exitCode: number) => void;
  /** Help and the version. */
  writeOut: (text: string) => void;
}

/**
 * Which commands a line can be about: the one that it begins with, none for the version, else all. To register one is
 * quick, to register all takes longer than many a command.
 */
function namedFirst([first = '']: readonly string[]): (name: string) => boolean {
  if (first === '--version') return () => false;
  const isCommand = commandGroups.some(({ commands }) => Object.hasOwn(commands, first));
  // A shell completes all of them.
  return isCommand && first !== 'completion' ? (name) => name === first : () => true;
}

/**
 * The command line, as far as these arguments need it. Nothing of the mesh is loaded by it. Errors are thrown, never
 * printed, and nothing exits.
 */
export function createProgram(runtime: Runtime, { argv, begin, report, writeOut }: ProgramOptions): Command {
  const program = new Command('git-mesh');
  program
    .description(
      'Let coding agents on different machines find each other and pass messages through a git repository. A machine is ' +
        'one store with a handle of its own (studio); agents check in on it by a name (builder).',
    )
    .usage('[options] <command> [arguments]')
    .version(runtime.version, '--version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({
      helpWidth: terminalColumns(runtime) ?? 100,
      minWidthToWrap: 10,
      formatItem(term, termWidth, description, helper) {
        const narrow = narrowItem(helper, { term, termWidth, description });
        return narrow ?? Help.prototype.formatItem.call(this, term, termWidth, description, helper);
      },
      // The global options are listed once, in the program's own help.
      visibleOptions(command) {
        const options = Help.prototype.visibleOptions.call(this, command);
        return command === program ? options : options.filter((o) => o.helpGroupHeading !== globalOptionsHeading);
      },
    })
    .configureOutput({ writeOut, writeErr: () => undefined, outputError: () => undefined });
  addGlobalOptions(program);

  const cli = createCli(runtime, program, { report, begin });
  const isNeeded = namedFirst(argv);
  for (const { heading, commands } of commandGroups) {
    program.commandsGroup(heading);
    for (const [name, register] of Object.entries(commands)) if (isNeeded(name)) register(program, cli);
  }
  for (const command of program.commands) {
    addGlobalOptions(command);
    command.addHelpText(
      'after',
      wrapped('\nEvery command takes --dir, --json, --quiet and --verbose too: see git-mesh --help.'),
    );
  }
  program.commandsGroup('More:').helpCommand('help [command]', 'show how to use a command');
  program.addHelpText('after', wrapped(`\n${exitCodesText}`));
  program.addHelpText(
    'after',
    examples(
      ['git-mesh init --remote /srv/git/team.git', 'make a mesh in an empty repository'],
      ['git-mesh join /srv/git/team.git', 'join it from another machine'],
      ['git-mesh setup claude-code', 'let the agents of a client use it; help setup lists the clients'],
      ['git-mesh help send', 'how to use one command, with examples'],
    ),
  );
  return program;
}
