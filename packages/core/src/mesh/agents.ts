import type { CallOptions } from '../api.js';
import { parseAgentsInput } from '../domain/inputs.js';
import { freezesInForce } from '../domain/freeze.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { EpochMillis } from '../domain/ids.js';
import { arrivedAt } from '../domain/message-life.js';
import { agentView } from '../domain/presence.js';
import type { AgentView, AgentsResult, MachineView, Problem } from '../domain/results.js';
import { noteActivityAlone } from './activity.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { leftAt } from './left.js';
import { examineMembership } from './examine-membership.js';
import { judgedFreezes, skewOf } from './machine-clocks.js';
import { seenPresence } from './seen-presence.js';
import { liveSession } from './sessions.js';
import type { SyncFacts } from './status.js';

/** Whoever may push can make any number of branches; status tells more of them. */
const maxProblems = 30;

export async function agents(
  ctx: MeshContext,
  input: unknown,
  call: CallOptions,
  facts: () => Promise<SyncFacts>,
): Promise<AgentsResult> {
  const { agent_id: agent, include_stale: includeStale } = parseAgentsInput(input);
  await noteActivityAlone(ctx, call, agent ?? null);
  const now = ctx.clock.now();
  const journal = await ctx.store.journal.view();
  const found: AgentView[] = [];
  const machines: MachineView[] = [];
  const verified = await ctx.branches.verifier();
  for (const branch of await ctx.branches.all()) {
    const left = leftAt(branch);
    if ((left !== null || branch.revoked !== undefined) && !includeStale) continue;
    machines.push({
      handle: branch.handle,
      label: branch.machine?.label ?? null,
      last_seen_at: toIso(await lastSeen(branch)),
      verified: verified(branch),
      ...(left === null ? {} : { left_at: left }),
    });
    found.push(...(await agentsOn(ctx, branch)).filter((view) => includeStale || view.alive));
  }
  // What concerns a remote as a whole is told by `sync`.
  const ofMachines = (await facts()).problems.filter(({ machine }) => machine !== undefined);
  const problems: Problem[] = [...ofMachines, ...(await examineMembership(ctx))].slice(0, maxProblems);
  return {
    machine: ctx.branches.own,
    agents: found,
    machines,
    freezes: freezesInForce(await judgedFreezes(ctx, journal), now, ctx.branches.own),
    sync: await ctx.syncer.summary(),
    ...(problems.length === 0 ? {} : { problems }),
  };

  /** By the machine's own word, which is not believed past the time at which it came. */
  async function lastSeen(branch: Branch): Promise<EpochMillis> {
    if (branch.handle === ctx.branches.own) return now;
    const tip = journal.cursor(branch.handle);
    const behindMs = Math.max(0, -(await skewOf(ctx, branch, journal)));
    return Math.min(branch.committedAt + behindMs, tip === undefined ? now : arrivedAt(tip, now));
  }
}

/**
 * All agents that a branch has a record of; none of a machine that left or was revoked, whatever its tip still shows. Here,
 * one whose session is over is not alive whatever its record says.
 */
export async function agentsOn(ctx: MeshContext, branch: Branch): Promise<AgentView[]> {
  if (leftAt(branch) !== null || branch.revoked !== undefined) return [];
  const now = ctx.clock.now();
  if (branch.handle !== ctx.branches.own) {
    return (await seenPresence(ctx, branch)).map((record) => agentView(record, branch.handle, now, null));
  }
  const views: AgentView[] = [];
  for (const record of await ctx.branches.presence(branch)) {
    const live = await liveSession(ctx, branch, agentKey(record.agent));
    const view = agentView(record, branch.handle, now, live?.lastActivity ?? null);
    views.push(live === null ? { ...view, alive: false } : view);
  }
  return views;
}

export async function aliveAgents(ctx: MeshContext, branch: Branch): Promise<AgentView[]> {
  return (await agentsOn(ctx, branch)).filter((view) => view.alive);
}
