import { Argument, type Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { jsonLine } from '../json-text.js';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

export function registerCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Print a script that makes a shell complete the commands and options of git-mesh.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      examples(
        ['eval "$(git-mesh completion bash)"', 'in ~/.bashrc'],
        ['eval "$(git-mesh completion zsh)"', 'in ~/.zshrc, after compinit'],
        ['git-mesh completion fish | source', 'in ~/.config/fish/config.fish'],
        ['git-mesh completion powershell | Out-String | Invoke-Expression', 'in $PROFILE'],
      ),
    )
    .action((shell: Shell, _flags: unknown, command: Command) =>
      cli.run(command, async (call) => {
        const { completionScript } = await import('../completion/script.js');
        const script = completionScript(shell, cli.program);
        await call.runtime.stdout.write(call.globals.json === true ? jsonLine({ shell, script }) : script);
        return exitCodes.done;
      }),
    );
}
