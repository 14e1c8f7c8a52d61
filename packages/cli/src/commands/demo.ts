import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerDemo(program: Command, cli: Cli): void {
  program
    .command('demo')
    .summary('see two machines work together')
    .description(
      'Play a session between two machines in a temporary folder: real stores, a real repository between them and real ' +
        'MCP servers. Takes under 20 seconds, tidies up, and touches nothing of yours.',
    )
    .option('--keep', 'leave the folder where it is, to look at with stock git, and say where')
    .addHelpText('after', examples(['git-mesh demo', 'watch it'], ['git-mesh demo --keep', 'and look at what it made']))
    .action(({ keep = false }: { keep?: boolean }, command: Command) =>
      cli.run(command, async ({ runtime }) => {
        const { runDemo } = await import('@git-mesh/mcp/demo');
        const cliCommand = [runtime.execPath, runtime.launcher];
        const asExpected = await runDemo({
          serverCommand: [...cliCommand, 'mcp'],
          cli: cliCommand,
          out: runtime.rawStdout(),
          env: runtime.env,
          keep,
        });
        return asExpected ? exitCodes.done : exitCodes.unexpected;
      }),
    );
}
