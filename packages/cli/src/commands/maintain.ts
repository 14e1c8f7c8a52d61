import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerMaintain(program: Command, cli: Cli): void {
  program
    .command('maintain')
    .summary('put the store’s objects into few small files')
    .description(
      'Join the packs of the store and put loose objects into them, what is alike as differences, at once, beside ' +
        'whatever else is running. ' +
        'Commands and the worker do the same bit by bit. No object is dropped, no branch moves and nothing is sent.',
    )
    .addHelpText('after', examples(['git-mesh maintain', 'join packs and loose objects now']))
    .action((_flags: object, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async ({ api }) => {
          const result = await api.maintain();
          const { maintainView } = await import('../views/maintain.js');
          await call.show(result, maintainView);
          return exitCodes.done;
        }),
      ),
    );
}
