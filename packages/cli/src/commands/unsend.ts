import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { messageReference } from '../message-reference.js';

export function registerUnsend(program: Command, cli: Cli): void {
  program
    .command('unsend')
    .summary('take a message back')
    .description(
      'Withdraw a message of this machine that nobody has acknowledged: it leaves every inbox, in a commit that says so. ' +
        'The history keeps it, as it keeps everything.',
    )
    .argument('<id>', 'the message: its number here or its ULID')
    .addHelpText('after', examples(['git-mesh sent', 'find its number'], ['git-mesh unsend 12', 'take it back']))
    .action((id: string, _flags: object, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const result = await mesh.api.unsend({ id: messageReference(id) });
          await call.exchange(mesh);
          const { unsendView } = await import('../views/unsend.js');
          await call.show(result, unsendView(await mesh.syncer.summary()));
          return exitCodes.done;
        }),
      ),
    );
}
