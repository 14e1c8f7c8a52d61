import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

interface InviteFlags {
  remote?: string;
  dryRun?: boolean;
}

export function registerInvite(program: Command, cli: Cli): void {
  program
    .command('invite')
    .summary('print a code by which one machine can join')
    .description(
      'Print a code with which one machine can join within 15 minutes. It carries where the repository is, this ' +
        'machine’s fingerprint and a secret. This machine admits the one that joins with it, the next time it ' +
        'synchronises; the code is of no use after that. Where two have joined with it by then, it admits neither and ' +
        'git mesh status says so.',
    )
    .option('--remote <name>', 'the remote that the other machine is to use (default: origin, else the first)')
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText(
      'after',
      examples(
        ['git-mesh invite', 'then, on the other machine: git-mesh join CODE'],
        ['git-mesh invite --remote share', 'where there are several remotes'],
      ),
    )
    .action((flags: InviteFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const input = { confirm: flags.dryRun !== true, ...defined({ remote: flags.remote }) };
          const result = await mesh.api.invite(input, { connection });
          const { inviteView } = await import('../views/invite.js');
          await call.show(result, inviteView);
          return exitCodes.done;
        }),
      ),
    );
}
