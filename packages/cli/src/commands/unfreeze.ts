import type { FreezeView, SendResult } from '@git-mesh/core';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

interface UnfreezeFlags {
  repo?: string;
  reason?: string;
  to: string;
  from?: string;
  allowSecret?: boolean;
}

/** The result of `unfreeze`: what was in force, and the messages that end it. */
export interface UnfreezeResult {
  freezes: FreezeView[];
  sent: SendResult[];
}

/** Those that were made for this very repository, or for all of them. */
const madeFor = (freezes: readonly FreezeView[], repo: string | undefined): FreezeView[] =>
  freezes.filter((freeze) => freeze.repo === (repo ?? null));

export function registerUnfreeze(program: Command, cli: Cli): void {
  program
    .command('unfreeze')
    .summary('let merges go on')
    .description(
      'End the freezes of a repository, or without --repo those that cover every repository: sends a freeze-clear for ' +
        'each that is in force here. Exits 3 where there is none.',
    )
    .option('--repo <repo>', 'the repository that the freeze names')
    .option('--reason <text>', 'why, for whoever was held up')
    .option('--to <handle>', 'only on this machine, or * for all', '*')
    .option('--from <agent>', 'the agent that ends it')
    .option('--allow-secret', 'send it though something in it looks like a credential')
    .addHelpText(
      'after',
      examples(['git-mesh guard', 'what is in force'], ['git-mesh unfreeze --repo shop', 'end the freezes of shop']),
    )
    .action((flags: UnfreezeFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          await call.exchange(mesh);
          const { freezes } = await mesh.api.agents({}, { connection });
          const ended = madeFor(freezes, flags.repo);
          if (ended.length === 0) throw await nothingToEnd(freezes, flags.repo);
          const sent: SendResult[] = [];
          for (const freeze of ended) {
            const payload = defined({ repo: flags.repo, reason: flags.reason });
            const input = defined({
              to: flags.to,
              msg_type: 'freeze-clear',
              from_agent: flags.from,
              allow_secret: flags.allowSecret,
            });
            sent.push(await mesh.api.send({ ...input, in_reply_to: freeze.id, payload }, { connection }));
          }
          await call.exchange(mesh);
          const { unfreezeView } = await import('../views/unfreeze.js');
          await call.show({ freezes: ended, sent }, unfreezeView(await mesh.syncer.summary()));
          return exitCodes.done;
        }),
      ),
    );
}

async function nothingToEnd(freezes: readonly FreezeView[], repo: string | undefined): Promise<Error> {
  const { MeshError, visibleText } = await import('@git-mesh/core');
  const of = (freeze: FreezeView): string =>
    freeze.repo === null ? 'every repository (unfreeze without --repo)' : visibleText(freeze.repo, { maxLength: 100 });
  const inForce = freezes.length === 0 ? 'None is in force.' : `In force: ${[...new Set(freezes.map(of))].join(', ')}.`;
  const wanted = repo === undefined ? 'covers every repository' : `names ${visibleText(repo, { maxLength: 100 })}`;
  return new MeshError('not_found', `No freeze in force here ${wanted}, so nothing was sent. ${inForce}`, {
    data: { repo: repo ?? null },
  });
}
