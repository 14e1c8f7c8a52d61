import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerRevoke(program: Command, cli: Cli): void {
  program
    .command('revoke')
    .summary('say that a machine counts no more')
    .description(
      'Believe a machine up to what this machine has of its branch now, and no further: it leaves the lists, its freezes ' +
        'end, and nothing that it writes from then on is read. It binds everybody where the policy is roster, and this ' +
        'machine alone where it is open. git-mesh admit on this machine takes it back.',
    )
    .argument('<machine>', 'the handle of the machine')
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText('after', examples(['git-mesh revoke laptop', 'a laptop that was stolen']))
    .action((machine: string, flags: { dryRun?: boolean }, command: Command) =>
      cli.run(command, (call) =>
        // No exchange before: what comes in is what is not to be believed any more.
        call.withMesh(async (mesh, connection) => {
          const result = await mesh.api.revoke({ machine, confirm: flags.dryRun !== true }, { connection });
          if (!result.preview) await call.exchange(mesh);
          const { revokeView } = await import('../views/roster.js');
          await call.show(result, revokeView);
          return exitCodes.done;
        }),
      ),
    );
}
