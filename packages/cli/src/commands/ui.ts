import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';
import type { Invocation } from '../invocation.js';

const serve = (call: Invocation, port: number): Promise<number> =>
  call.withMesh(async (mesh, connection) => {
    const stop = call.runtime.interruption();
    const { serveUi } = await import('../ui/serve-ui.js');
    const { uiView } = await import('../views/ui.js');
    await serveUi({
      mesh,
      connection,
      port,
      stop,
      now: () => call.runtime.now(),
      onReady: (url) => call.show({ url }, uiView),
    });
    return exitCodes.done;
  });

export function registerUi(program: Command, cli: Cli): void {
  program
    .command('ui')
    .summary('a page that shows what happens, live')
    .description(
      'Serve a page for a browser on this machine: who is here and what they do, freezes, messages and how far they got, ' +
        'the log, each as it happens, until interrupted. It only shows, and only to whoever has the address that is printed.',
    )
    .option('--port <port>', 'the port on 127.0.0.1; a free one where left out', wholeNumber, 0)
    .addHelpText(
      'after',
      examples(['git-mesh ui', 'print the address to open'], ['git-mesh ui --port 8300', 'always on the same port']),
    )
    .action((flags: { port: number }, command: Command) =>
      cli.run(command, (call) => serve(call, flags.port), { noisy: true }),
    );
}
