import type { FreezeView, GuardResult } from '@git-mesh/core';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { OutputError } from '../process-sink.js';
import { UsageError } from '../usage-error.js';

interface GuardFlags {
  repo?: string;
  strict?: boolean;
}

const lookAtMostMs = 2000;

/** The freezes that hold for a repository (a freeze without one covers all), or all of them. */
function freezesFor(freezes: readonly FreezeView[], repo: string | undefined): FreezeView[] {
  return freezes.filter((freeze) => repo === undefined || freeze.repo === null || freeze.repo === repo);
}

export function registerGuard(program: Command, cli: Cli): void {
  program
    .command('guard')
    .summary('exit 20 while a freeze is in force')
    .description(
      'For a pre-push hook or a merge script: exits 20 while a freeze is in force, else 0. Looks at the remotes for at ' +
        'most 2 seconds; when that fails it answers from what is known and warns, or exits 5 with --strict.',
    )
    .option('--repo <repo>', 'only freezes that cover this repository')
    .option('--strict', 'fail when the answer may be out of date')
    .addHelpText(
      'after',
      examples(
        ['git-mesh guard --repo shop && git push', 'push unless merges are on hold'],
        ['git-mesh guard --strict', 'and not without asking the remote'],
      ),
    )
    .action((flags: GuardFlags, command: Command) =>
      cli.run(command, (call) => {
        if (flags.repo?.trim() === '') {
          // As from an unset variable of a script: it must not pass for a repository without freezes.
          throw new UsageError('--repo is empty: expected the name of a repository; left out, every freeze counts');
        }
        return call.withMesh(async (mesh, connection) => {
          await call.exchange(mesh, lookAtMostMs);
          const { freezes: all, sync } = await mesh.api.agents({}, { connection });
          const freezes = freezesFor(all, flags.repo);
          const result: GuardResult = { frozen: freezes.length > 0, freezes };
          const stale = sync.state === 'offline' || sync.state === 'partial';
          if (stale) {
            const problem = `the freezes may be out of date: ${sync.error?.message ?? 'a remote did not answer'}`;
            if (flags.strict === true && !result.frozen) {
              const { MeshError } = await import('@git-mesh/core');
              throw new MeshError('unreachable', `${problem} (without --strict, guard answers from what is known)`);
            }
            const { oneLine } = await import('../views/one-line.js');
            await call.warn(oneLine(problem, await call.viewContext()));
          }
          const { guardView } = await import('../views/guard.js');
          try {
            await call.show(result, guardView);
          } catch (error) {
            // The exit code is the answer here, and says it whether or not it could be printed.
            if (!(error instanceof OutputError)) throw error;
            // Nothing was done, though "no freeze" is silent with --quiet like what confirms an act.
            const { message } = error.cause instanceof OutputError ? error.cause : error;
            await call.warn(message);
          }
          return result.frozen ? exitCodes.frozen : exitCodes.done;
        });
      }),
    );
}
