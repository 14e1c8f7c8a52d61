import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';

interface SentFlags {
  as?: string;
  limit?: number;
}

export function registerSent(program: Command, cli: Cli): void {
  program
    .command('sent')
    .summary('what became of sent messages')
    .description(
      'Show what this machine sent, newest first: queued (stored here), pushed (on a remote), delivered (the other ' +
        'machine has it), acked (by whom and when) or expired.',
    )
    .option('--as <agent>', 'only what this agent sent')
    .option('--limit <n>', 'at most this many (1 to 100; default: 20)', wholeNumber)
    .addHelpText(
      'after',
      examples(['git-mesh sent', 'the last 20'], ['git-mesh sent --as release --limit 5', 'the last 5 of release']),
    )
    .action((flags: SentFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          await call.exchange(mesh);
          const result = await mesh.api.sent(defined({ agent_id: flags.as, limit: flags.limit }), { connection });
          const { sentView } = await import('../views/sent.js');
          await call.show(result, sentView);
          return exitCodes.done;
        }),
      ),
    );
}
