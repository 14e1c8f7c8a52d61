import { chmod } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { UsageError } from '../usage-error.js';

export function registerExport(program: Command, cli: Cli): void {
  program
    .command('export')
    .summary('write the mesh into a file to carry by hand')
    .description(
      'Write every branch of the mesh into a git bundle: a file that git-mesh import, git-mesh join and stock git read. ' +
        'With --since-last, only what is new since the last export of that name; where nothing is, no file is written.',
    )
    .argument('<file>', 'the file to write, behind its links; one that is there is replaced once the new one is whole')
    .option('--since-last <name>', 'leave out what the last export of this name had: one name for each receiver')
    .addHelpText(
      'after',
      examples(
        ['git-mesh export /media/usb/mesh.bundle', 'the whole mesh, also for a machine that joins'],
        ['git-mesh export /media/usb/mesh.bundle --since-last lab', 'what the lab has not got yet'],
        ['git bundle verify /media/usb/mesh.bundle', 'what stock git says of it'],
      ),
    )
    .action((file: string, flags: { sinceLast?: string }, command: Command) =>
      cli.run(command, (call) => {
        if (file === '-' || file === '') throw new UsageError(`export writes a file: "${file}" is no path of one`);
        return call.withMesh(async (mesh) => {
          const path = resolve(call.runtime.cwd(), file);
          const { writeTarget } = await import('../write-target.js');
          const target = await writeTarget(path, { store: await call.storeDir() });
          await call.exchange(mesh);
          const result = await mesh.exportBundle({
            ...defined({ sinceLast: flags.sinceLast, onProgress: call.onProgress, mode: target.mode ?? undefined }),
            file: target.file,
            signal: call.runtime.interruption(),
          });
          // What its maker's umask took away.
          if (target.mode !== null) await chmod(target.file, target.mode);
          const { exportView } = await import('../views/export.js');
          await call.show({ ...result, file: path }, exportView(flags.sinceLast));
          return exitCodes.done;
        });
      }),
    );
}
