import type { DoctorResult } from '@git-mesh/core';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import type { Invocation } from '../invocation.js';

/** A store that cannot even be opened is examined file by file. Where there is none, there is nothing to examine. */
async function examined(call: Invocation): Promise<DoctorResult> {
  const mesh = { opened: false };
  try {
    return await call.withMesh(({ api }) => {
      mesh.opened = true;
      return api.doctor();
    });
  } catch (error) {
    const { MeshError, examineFolder, problemOf } = await import('@git-mesh/core');
    if (mesh.opened || (error instanceof MeshError && error.errorName === 'no_mesh')) throw error;
    const why = problemOf(error);
    const found = await examineFolder(await call.storeDir());
    const problems = found.some(({ message }) => message === why.message) ? found : [why, ...found];
    return { ok: false, problems };
  }
}

export function registerDoctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .summary('look for problems and say how to mend them')
    .description(
      'Check the store, the journal, the remotes and every file of every branch. Exits 1 when there are problems. ' +
        'Changes nothing, but for a test file that it writes and removes again.',
    )
    .addHelpText('after', examples(['git-mesh doctor', 'what is wrong, and what to do about it']))
    .action((_flags: unknown, command: Command) =>
      cli.run(command, async (call) => {
        const result = await examined(call);
        const { doctorView } = await import('../views/doctor.js');
        await call.show(result, doctorView);
        return result.ok ? exitCodes.done : exitCodes.unexpected;
      }),
    );
}
