import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { eventsOf, hookAnswer, hookClients, isHookClient } from '../hook/clients.js';
import { UsageError } from '../usage-error.js';

/** Clients wait ten seconds for a hook; a store that another process holds is not waited for so long. */
const limitMs = 5_000;

export function registerHook(program: Command, cli: Cli): void {
  program
    .command('hook')
    .summary('what a client’s hook calls')
    .description(
      'Called by a coding client at a turn’s start or end (git-mesh setup arranges that): mentions messages that are new ' +
        'for the agents on this machine, in the client’s own format, each once a session. Prints nothing where nothing is ' +
        'new, uses no network, and ends with 0 whatever goes wrong (with 1 only where it is called wrongly), so that no client is held up.',
    )
    .argument('<client>', hookClients.join(', '))
    .argument('<event>', 'the client’s name of the event, as in Stop')
    .option('--agent <agent>', 'only mail of this agent (default: GIT_MESH_AGENT, else every agent here)')
    .addHelpText('after', examples(['git-mesh hook claude-code Stop < input.json', 'as Claude Code calls it']))
    .action((client: string, event: string, flags: { agent?: string }, command: Command) =>
      cli.run(command, async (call) => {
        if (!isHookClient(client)) throw new UsageError(`no client "${client}": expected ${hookClients.join(', ')}`);
        if (hookAnswer(client, event, '') === null) {
          throw new UsageError(`no event "${event}" of ${client}: expected ${eventsOf(client).join(', ')}`);
        }
        const { runtime } = call;
        try {
          const { sessionOf } = await import('../hook/hook-input.js');
          const { within } = await import('../hook/within.js');
          const { hookText } = await import('../hook/hook-text.js');
          const session = (await sessionOf(runtime.stdin())) ?? 'no session';
          const named = flags.agent ?? runtime.env['GIT_MESH_AGENT'];
          const agent = named === '' ? undefined : named;
          const input = defined({ reader: `${client} ${session}`, agent_id: agent });
          const found = await within(
            limitMs,
            call.withMesh((mesh) => mesh.api.mention(input)),
          );
          const text = found === null ? null : hookText(found);
          const answer = text === null ? null : hookAnswer(client, event, text);
          if (answer !== null) await runtime.stdout.write(answer.stdout);
        } catch (error) {
          // A hook that fails would hold up the client, or be read as its answer.
          call.logger.debug(`hook: ${error instanceof Error ? error.message : String(error)}`);
        }
        return exitCodes.done;
      }),
    );
}
