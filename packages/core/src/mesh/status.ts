import type { PartialHistory, Problem, RemoteStatus, StatusResult } from '../domain/results.js';
import { agentsOn } from './agents.js';
import type { MeshContext } from './context.js';
import { standingChecks } from './examine-standing.js';

/** What only the sync side knows; given in, so that core needs no transport. */
export interface SyncFacts {
  worker: StatusResult['worker'];
  remotes: RemoteStatus[];
  problems: Problem[];
  /** What is to be known and is no problem: doctor's alone. */
  notices?: Problem[];
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
  const found: Problem[] = [];
  for (const check of standingChecks) found.push(...(await check(ctx)));
  return {
    mesh: config.mesh,
    machine: config.handle,
    store: dir,
    format: config.format,
    policy: config.policy,
    worker: facts.worker,
    remotes: facts.remotes,
    agents: { alive, known },
    journal: { highest: view.highest, entries: view.total },
    ...(await partialHistory(ctx)),
    problems: [...facts.problems, ...found],
  };
}

/** Empty where all of every machine's history is here. */
export async function partialHistory({ branches }: MeshContext): Promise<{ history?: PartialHistory }> {
  const edges = await branches.edges();
  if (edges.length === 0) return {};
  const older = edges.reduce((sum, edge) => sum + edge.older, 0);
  return { history: { older_commits: older, machines: [...new Set(edges.map(({ machine }) => machine))] } };
}
