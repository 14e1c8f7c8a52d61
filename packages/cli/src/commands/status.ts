import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerStatus(program: Command, cli: Cli): void {
  program
    .command('status')
    .summary('what this machine knows of its mesh')
    .description('Show the mesh, the store, the worker, the remotes and what is wrong, without touching the network.')
    .addHelpText(
      'after',
      examples(['git-mesh status', 'is it all well?'], ['git-mesh status --json', 'the same for a script']),
    )
    .action((_flags: unknown, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const { statusView } = await import('../views/status.js');
          await call.show(await mesh.api.status(), statusView);
          return exitCodes.done;
        }),
      ),
    );
}
