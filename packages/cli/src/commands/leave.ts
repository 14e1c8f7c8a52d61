import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerLeave(program: Command, cli: Cli): void {
  program
    .command('leave')
    .summary('take this machine out of the mesh for good')
    .description(
      'Take this machine out of the mesh. Its agents are checked out, the others no longer list it or write to it, and ' +
        'this store writes nothing any more; what is in it stays readable. The handle is never used again. Freezes of ' +
        'this machine stay in force until they are cleared or expire.',
    )
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText(
      'after',
      examples(['git-mesh leave --dry-run', 'whom it would check out'], ['git-mesh leave', 'leave']),
    )
    .action((flags: { dryRun?: boolean }, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const result = await mesh.api.leave({ confirm: flags.dryRun !== true }, { connection });
          if (!result.preview) await call.exchange(mesh);
          const { leaveView } = await import('../views/leave.js');
          await call.show(result, leaveView);
          return exitCodes.done;
        }),
      ),
    );
}
