import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerImport(program: Command, cli: Cli): void {
  program
    .command('import')
    .summary('take in a file that carries the mesh')
    .description(
      'Take in a git bundle, made by git-mesh export or git bundle create, with the checks of a fetch: signatures, pinned ' +
        'keys, fast-forward only. Importing one twice does no harm. A branch that is not accepted stays where it was and ' +
        'is named here and by git-mesh doctor.',
    )
    .argument('<file>', 'the bundle; - reads standard input')
    .addHelpText(
      'after',
      examples(
        ['git-mesh import /media/usb/mesh.bundle', 'what others carried here'],
        ['ssh lab cat mesh.bundle | git-mesh import -', 'from anywhere'],
      ),
    )
    .action((file: string, _flags: unknown, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const { runtime } = call;
          const result = await mesh.importBundle({
            file: file === '-' ? file : resolve(runtime.cwd(), file),
            ...defined({ source: file === '-' ? runtime.stdin() : undefined, onProgress: call.onProgress }),
          });
          await call.exchange(mesh);
          const { importView } = await import('../views/import.js');
          await call.show(result, importView);
          return exitCodes.done;
        }),
      ),
    );
}
