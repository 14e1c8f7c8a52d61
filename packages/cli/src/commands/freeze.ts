import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';
import { sentState } from '../sent-state.js';

interface FreezeFlags {
  repo?: string;
  reason?: string;
  to: string;
  from?: string;
  allowSecret?: boolean;
  ttl?: number;
}

export function registerFreeze(program: Command, cli: Cli): void {
  program
    .command('freeze')
    .summary('hold merges')
    .description(
      'Ask the machines of the mesh to hold merges: sends a freeze, which stays in force until git-mesh unfreeze or its ' +
        'end. git-mesh guard makes a hook or a CI job heed it.',
    )
    .option('--repo <repo>', 'only for this repository (default: for all)')
    .option('--reason <text>', 'why, for whoever is held up')
    .option('--to <handle>', 'only for this machine, or * for all', '*')
    .option('--from <agent>', 'the agent that asks for it')
    .option('--ttl <seconds>', 'how long it holds at most (60 to 2592000; default: 86400, a day)', wholeNumber)
    .option('--allow-secret', 'send it though something in it looks like a credential')
    .addHelpText(
      'after',
      examples(
        ['git-mesh freeze --repo shop --reason "cutting 2.1"', 'hold merges into shop'],
        ['git-mesh unfreeze --repo shop', 'and let them go on'],
      ),
    )
    .action((flags: FreezeFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const payload = defined({ repo: flags.repo, reason: flags.reason });
          const input = defined({
            to: flags.to,
            msg_type: 'freeze',
            from_agent: flags.from,
            ttl_seconds: flags.ttl,
            allow_secret: flags.allowSecret,
          });
          const stored = await mesh.api.send({ ...input, payload }, { connection });
          await call.exchange(mesh);
          const { sendView } = await import('../views/send.js');
          const result = { ...stored, state: await sentState(mesh, connection, stored) };
          await call.show(result, sendView(await mesh.syncer.summary()));
          return exitCodes.done;
        }),
      ),
    );
}
