import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerRotateKey(program: Command, cli: Cli): void {
  program
    .command('rotate-key')
    .summary("change this machine's key")
    .description(
      'Make a new key for this machine. The old key signs it in, and the others follow without a question; from then on ' +
        'nothing is accepted that the old key signs. The old private key is removed. It does not help where somebody ' +
        'else has the old key and was faster: then leave, and join under another handle.',
    )
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText(
      'after',
      examples(['git-mesh rotate-key --dry-run', 'the key that is in use'], ['git-mesh rotate-key', 'a new key']),
    )
    .action((flags: { dryRun?: boolean }, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const result = await mesh.api.rotateKey({ confirm: flags.dryRun !== true }, { connection });
          if (!result.preview) await call.exchange(mesh);
          const { rotateKeyView } = await import('../views/rotate-key.js');
          await call.show(result, rotateKeyView);
          return exitCodes.done;
        }),
      ),
    );
}
