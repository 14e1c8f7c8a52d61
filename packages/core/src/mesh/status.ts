import type { Problem, RemoteStatus, StatusResult } from '../domain/results.js';
import { examineWriting } from '../store/examine-folder.js';
import { agentsOn } from './agents.js';
import type { MeshContext } from './context.js';
import { examineClocks } from './examine-clocks.js';

/** What only the sync side knows; given in, so that core needs no transport. */
export interface SyncFacts {
  worker: StatusResult['worker'];
  remotes: RemoteStatus[];
  problems: Problem[];
}

export async function status(ctx: MeshContext, facts: SyncFacts): Promise<StatusResult> {
  const { config, dir, journal } = ctx.store;
  const view = await journal.view();
  let alive = 0;
  let known = 0;
  for (const branch of await ctx.branches.all()) {
    const views = await agentsOn(ctx, branch);
    known += views.length;
    alive += views.filter((agent) => agent.alive).length;
  }
  return {
    mesh: config.mesh,
    machine: config.handle,
    store: dir,
    format: config.format,
    policy: config.policy,
    worker: facts.worker,
    remotes: facts.remotes,
    agents: { alive, known },
    journal: { highest: view.highest, entries: view.messages.length },
    problems: [...facts.problems, ...(await examineClocks(ctx)), ...(await examineWriting(dir, { fs: ctx.store.fs }))],
  };
}
