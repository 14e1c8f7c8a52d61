import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerReclaim(program: Command, cli: Cli): void {
  program
    .command('reclaim')
    .summary('put this machine’s branch back on a remote')
    .description(
      'Say that this store is the one that goes on under its handle: after somebody else pushed to this machine’s branch, ' +
        'another store took its handle, or this store was moved to another computer. What is this machine’s own there is ' +
        'taken back; anything else is kept in the store under refs/quarantine and replaced there. No other command forces.',
    )
    .argument('<remote>', 'the name of the remote, as in git-mesh remote list')
    .addHelpText('after', examples(['git-mesh reclaim origin', 'put the branch back that status says is foreign']))
    .action((remote: string, _flags: object, command: Command) =>
      cli.run(command, async (call) => {
        const { reclaimBranch } = await call.runtime.meshAccess();
        const { env } = call.runtime;
        const result = await reclaimBranch({ dir: await call.storeDir(), env, logger: call.logger, remote });
        const { reclaimView } = await import('../views/reclaim.js');
        await call.show(result, reclaimView);
        return result.sync.error === null ? exitCodes.done : exitCodes.unreachable;
      }),
    );
}
