import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { messageReference } from '../message-reference.js';
import { UsageError } from '../usage-error.js';

interface AckFlags {
  all?: boolean;
  dryRun?: boolean;
}

/** The tool's input; message numbers and ULIDs may be mixed. @throws UsageError unless exactly one of ids and --all is given. */
function ackInput(agent: string, ids: readonly string[], flags: AckFlags): object {
  const confirm = flags.dryRun !== true;
  if (flags.all === true) {
    if (ids.length > 0) throw new UsageError('give either message ids or --all, not both');
    return { agent_id: agent, all: true, confirm };
  }
  if (ids.length === 0) throw new UsageError('which messages? Give their numbers or ULIDs, or --all');
  return { agent_id: agent, message_ids: ids.map(messageReference), confirm };
}

export function registerAck(program: Command, cli: Cli): void {
  program
    .command('ack')
    .summary('acknowledge messages')
    .description(
      'Tell the senders that an agent has read their messages, and take them out of its inbox. It means read, not ' +
        'agreed and not done.',
    )
    .argument('<agent>', "the agent's name")
    .argument('[id...]', 'the messages, by their numbers here or their ULIDs; none with --all')
    .option('--all', 'everything in the inbox')
    .option('--dry-run', 'show what would be acknowledged and change nothing')
    .addHelpText(
      'after',
      examples(['git-mesh ack qa 12 13', 'qa has read 12 and 13'], ['git-mesh ack qa --all', 'qa has read everything']),
    )
    .action((agent: string, ids: string[], flags: AckFlags, command: Command) =>
      cli.run(command, async (call) => {
        const input = ackInput(agent, ids, flags);
        return call.withMesh(async (mesh, connection) => {
          const result = await mesh.api.ack(input, { connection, allowUlids: true });
          if (!result.preview) await call.exchange(mesh);
          const { ackView } = await import('../views/ack.js');
          await call.show(result, ackView);
          return exitCodes.done;
        });
      }),
    );
}
