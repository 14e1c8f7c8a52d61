import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { messageReference } from '../message-reference.js';

export function registerTrace(program: Command, cli: Cli): void {
  program
    .command('trace')
    .summary('what became of a message')
    .description(
      'Every event of one message, oldest first, from the commits alone: when it was sent, which machines had it, who ' +
        'acknowledged it, how it ended. Pruned messages too.',
    )
    .argument('<id>', 'the message: its number here or its ULID')
    .addHelpText('after', examples(['git-mesh trace 12', 'who knew what, and when']))
    .action((id: string, _flags: object, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const cut = new Set<string>();
          const result = await mesh.api.trace(
            { id: messageReference(id) },
            { onEdge: ({ machine }) => void cut.add(machine) },
          );
          const { traceView } = await import('../views/trace.js');
          await call.show(result, traceView);
          if (cut.size > 0) {
            const { endsHere } = await import('../views/history.js');
            await call.warn(endsHere([...cut].sort()));
          }
          return exitCodes.done;
        }),
      ),
    );
}
