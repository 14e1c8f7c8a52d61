import type { Problem, SyncSummary } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import type { Invocation } from '../invocation.js';

/** 0 when every remote answered, even where branches were quarantined. */
function syncExitCode(summary: SyncSummary): number {
  switch (summary.state) {
    case 'ok':
    case 'none':
      return exitCodes.done;
    case 'partial':
    case 'offline':
      return exitCodes.unreachable;
  }
}

const once = (call: Invocation): Promise<number> =>
  call.withMesh(async (mesh) => {
    const summary = await mesh.syncNow({ signal: call.runtime.interruption() });
    const problems = await aboutRemotes(mesh);
    const { syncView } = await import('../views/sync.js');
    await call.show({ ...summary, ...(problems.length === 0 ? {} : { problems }) }, syncView);
    return syncExitCode(summary);
  });

/** What an exchange found of others’ branches that the summary, which is of ours, does not say. */
async function aboutRemotes({ api }: OpenMesh): Promise<Problem[]> {
  const { problems } = await api.status();
  return problems.filter(({ kind }) => told.has(kind));
}

/** All where what somebody wrote does not come in, but of machines that were not let in, or were put out. */
const told: ReadonlySet<string> = new Set([
  'branch_rewound',
  'remote_rewound',
  'ref_blocked',
  'unfetchable',
  'too_large',
  'broken_ref',
  'rewritten',
  'unsigned',
  'foreign_commit',
  'wrong_key',
  'wrong_identity',
  'charter_changed',
]);

/** First the exchange: of a branch whose tip there is not here, nothing older can be asked for. */
const withHistory = (call: Invocation): Promise<number> =>
  call.withMesh(async (mesh) => {
    const signal = call.runtime.interruption();
    const summary = await mesh.syncNow({ signal });
    const history = await mesh.fetchHistory({ signal, ...defined({ onProgress: call.onProgress }) });
    const { historyView } = await import('../views/history.js');
    await call.show({ ...summary, history }, historyView);
    return syncExitCode(summary);
  });

const forAsLongAsItRuns = (call: Invocation): Promise<number> =>
  call.withMesh(async (mesh) => {
    const stop = call.runtime.interruption();
    mesh.startWorker();
    if (!stop.aborted) {
      // An abort signal's listener keeps no process alive by itself.
      const alive = setInterval(() => undefined, 60_000);
      await new Promise<void>((resolve) => {
        stop.addEventListener('abort', () => {
          resolve();
        });
      });
      clearInterval(alive);
    }
    const { syncView } = await import('../views/sync.js');
    await call.show(await mesh.syncer.summary(), syncView);
    return exitCodes.done;
  });

export function registerSync(program: Command, cli: Cli): void {
  program
    .command('sync')
    .summary('exchange with the remotes now, or keep doing so')
    .description(
      'Fetch what others wrote and push what is queued, at once and from every remote. With --watch, stay and do it ' +
        'whenever something changes, until interrupted. With --history, get what this store lacks of the history too; ' +
        'what was broken off goes on the next time. Exits 5 when a remote did not answer or refused.',
    )
    .addOption(new Option('--watch', 'stay, and exchange whenever something changes').conflicts('history'))
    .option('--history', 'also get the older history that joining left out, for an audit')
    .addHelpText(
      'after',
      examples(
        ['git-mesh sync', 'one exchange now'],
        ['git-mesh sync --watch', 'a resident worker without an agent'],
        ['git-mesh sync --history', 'all of the audit log, on this machine too'],
      ),
    )
    .action((flags: { watch?: boolean; history?: boolean }, command: Command) => {
      const body = flags.watch === true ? forAsLongAsItRuns : flags.history === true ? withHistory : once;
      return cli.run(command, body, { noisy: flags.watch === true });
    });
}
