import type { InboxMessage, InboxResult } from '@git-mesh/core';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import type { Invocation } from '../invocation.js';
import { jsonLine } from '../json-text.js';

/** The longest wait of one call; between two nothing is missed. */
const waitSeconds = 45;

export function registerWatch(program: Command, cli: Cli): void {
  program
    .command('watch')
    .summary('print messages as they arrive')
    .description(
      "Print one line for each message of an agent's session, first those that wait unread and then each as it arrives, " +
        'until interrupted. With --json one JSON document a line. Nothing is acknowledged by it, and an agent that is ' +
        'watched stays present.',
    )
    .argument('<agent>', "the agent's name; it must be checked in")
    .addHelpText(
      'after',
      examples(
        ['git-mesh watch qa', 'see what comes for qa'],
        ['git-mesh watch qa --json | jq -r .payload.message', 'feed a script'],
      ),
    )
    .action((agent: string, _flags: object, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const signal = call.runtime.interruption();
          await call.exchange(mesh);
          // Nothing would arrive if nobody fetched: this process stands for the worker where there is none.
          mesh.startWorker();
          const { watchLine } = await import('../views/watch.js');
          const context = await call.viewContext();
          let after: number | undefined;
          while (!signal.aborted && !call.runtime.stdout.closed) {
            const input = defined({ agent_id: agent, after, limit: 100, wait_seconds: waitSeconds });
            const page = await mesh.api.inbox(input, { connection, signal });
            for (const message of page.messages) {
              after = message.message_id;
              if (!isOwn(message, page)) await print(call, message, (each) => watchLine(each, context));
            }
          }
          return exitCodes.done;
        }),
      ),
    );
}

/** What the agent sent to all is no news to it. */
function isOwn({ from }: InboxMessage, { machine, agent_id: agent }: InboxResult): boolean {
  return from.machine === machine && from.agent?.toLowerCase() === agent.toLowerCase();
}

async function print(call: Invocation, message: InboxMessage, line: (message: InboxMessage) => string): Promise<void> {
  await call.runtime.stdout.write(call.globals.json === true ? jsonLine(message) : `${line(message)}\n`);
}
