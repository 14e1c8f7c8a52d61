import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerKeys(program: Command, cli: Cli): void {
  program
    .command('keys')
    .summary('who has which key, and who says so')
    .description(
      'List the machines’ keys by their fingerprints, with why each machine counts or does not: ' +
        'the founder, admitted (and by whom), first seen here, waiting to be admitted, revoked.',
    )
    .option('--allowed-signers', "print the file with which git checks the mesh's signatures")
    .addHelpText(
      'after',
      examples(
        ['git-mesh keys', 'compare a fingerprint before you admit a machine'],
        [
          'git-mesh keys --allowed-signers >signers',
          'for git -c gpg.ssh.allowedSignersFile=signers log --show-signature',
        ],
      ),
    )
    .action((flags: { allowedSigners?: boolean }, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          await call.exchange(mesh);
          const result = await mesh.api.keys();
          const { allowedSignersView, keysView } = await import('../views/roster.js');
          await call.show(result, flags.allowedSigners === true ? allowedSignersView : keysView);
          return exitCodes.done;
        }),
      ),
    );
}
