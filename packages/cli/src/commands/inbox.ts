import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';
import { messageReference } from '../message-reference.js';

interface InboxFlags {
  limit?: number;
  after?: string;
  wait?: number;
}

export function registerInbox(program: Command, cli: Cli): void {
  program
    .command('inbox')
    .summary('messages for an agent')
    .description(
      "Show the messages of an agent's session that it has not acknowledged, oldest first. Reading removes nothing " +
        'and tells the sender nothing: that is what ack is for.',
    )
    .argument('<agent>', "the agent's name")
    .option('--limit <n>', 'at most this many (1 to 100; default: 50)', wholeNumber)
    .option('--after <n>', 'only those after this message (its number here or its ULID)')
    .option(
      '--wait <seconds>',
      'wait so long for the first message (0 to 45; default: 0); exits 0 when none came',
      wholeNumber,
    )
    .addHelpText(
      'after',
      examples(
        ['git-mesh inbox qa', 'what is there for qa'],
        ['git-mesh inbox qa --wait 30', 'or wait half a minute for something'],
        ['git-mesh ack qa 12 13', 'acknowledge what was read'],
      ),
    )
    .action((agent: string, flags: InboxFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const input = defined({
            agent_id: agent,
            limit: flags.limit,
            after: flags.after === undefined ? undefined : messageReference(flags.after),
            wait_seconds: flags.wait,
          });
          await call.exchange(mesh);
          if ((flags.wait ?? 0) > 0) {
            // Nothing would arrive while we wait if nobody fetched.
            if (!(await mesh.syncer.workerAlive())) mesh.startWorker();
          }
          const signal = (flags.wait ?? 0) > 0 ? call.runtime.interruption() : undefined;
          const result = await mesh.api.inbox(input, defined({ connection, signal }));
          if (signal !== undefined) await call.endWhereInterrupted(signal);
          const { inboxView } = await import('../views/inbox.js');
          await call.show(result, inboxView);
          return exitCodes.done;
        }),
      ),
    );
}
