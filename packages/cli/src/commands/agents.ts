import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

interface AgentsFlags {
  as?: string;
  includeStale?: boolean;
}

export function registerAgents(program: Command, cli: Cli): void {
  program
    .command('agents')
    .summary('who is there')
    .description('List the agents of every machine, the machines and the freezes in force.')
    .option('--as <agent>', 'the agent that asks: its presence is renewed')
    .option('--include-stale', 'also agents whose time is over')
    .addHelpText(
      'after',
      examples(
        ['git-mesh agents', 'who is there now'],
        ['git-mesh agents --include-stale', 'and who was there in the last day'],
      ),
    )
    .action((flags: AgentsFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          await call.exchange(mesh);
          const input = defined({ agent_id: flags.as, include_stale: flags.includeStale });
          const result = await mesh.api.agents(input, { connection });
          const { agentsView } = await import('../views/agents.js');
          await call.show(result, agentsView);
          return exitCodes.done;
        }),
      ),
    );
}
