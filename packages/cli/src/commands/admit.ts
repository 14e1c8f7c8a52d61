import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

/** A machine that has just joined is to be found. */
const lookMs = 2_000;

interface AdmitFlags {
  key?: string;
  dryRun?: boolean;
}

export function registerAdmit(program: Command, cli: Cli): void {
  program
    .command('admit')
    .summary('say that a machine counts')
    .description(
      'Admit a machine with the key that it has now: to the mesh where its policy is roster, for this machine alone where ' +
        'it is open. Compare the fingerprint first, by another way, with what git-mesh keys shows on that machine.',
    )
    .argument('<machine>', 'the handle of the machine')
    .option('--key <fingerprint>', 'admit it only where this is its key (SHA256:…)')
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText(
      'after',
      examples(
        ['git-mesh admit laptop --dry-run', 'its fingerprint'],
        ['git-mesh admit laptop', 'from now on it counts, and so do those whom it admits'],
      ),
    )
    .action((machine: string, flags: AdmitFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          await call.exchange(mesh, lookMs);
          const input = defined({ machine, key: flags.key, confirm: flags.dryRun !== true });
          const result = await mesh.api.admit(input, { connection });
          if (!result.preview) await call.exchange(mesh);
          const { admitView } = await import('../views/roster.js');
          await call.show(result, admitView);
          return exitCodes.done;
        }),
      ),
    );
}
