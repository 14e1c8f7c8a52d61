import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerDoctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .summary('look for problems and say how to mend them')
    .description(
      'Check the store, the journal, the remotes and every file of every branch. Exits 1 when there are problems. ' +
        'Changes nothing.',
    )
    .addHelpText('after', examples(['git-mesh doctor', 'what is wrong, and what to do about it']))
    .action((_flags: unknown, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const result = await mesh.api.doctor();
          const { doctorView } = await import('../views/doctor.js');
          await call.show(result, doctorView);
          return result.ok ? exitCodes.done : exitCodes.unexpected;
        }),
      ),
    );
}
