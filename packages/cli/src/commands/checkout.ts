import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerCheckout(program: Command, cli: Cli): void {
  program
    .command('checkout')
    .summary("end an agent's session")
    .description('End the session of an agent on this machine at once, instead of letting it expire.')
    .argument('<agent>', "the agent's name")
    .option('--dry-run', 'show what would happen and change nothing')
    .addHelpText('after', examples(['git-mesh checkout builder', 'the agent leaves']))
    .action((agent: string, flags: { dryRun?: boolean }, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const input = { agent_id: agent, confirm: flags.dryRun !== true };
          const result = await mesh.api.checkout(input, { connection });
          if (!result.preview) await call.exchange(mesh);
          const { checkoutView } = await import('../views/checkout.js');
          await call.show(result, checkoutView);
          return exitCodes.done;
        }),
      ),
    );
}
