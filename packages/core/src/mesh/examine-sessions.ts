import { agentKey, fromIso } from '../domain/ids.js';
import type { Problem } from '../domain/results.js';
import type { MeshContext } from './context.js';

/** Agents whom others see alive here, while this machine has no session of theirs: its file was removed. */
export async function examineSessions(ctx: MeshContext): Promise<Problem[]> {
  const { branches, clock, store } = ctx;
  const problems: Problem[] = [];
  // Those are named with the folder.
  const damaged = new Set(await store.local.damagedSessions());
  for (const { agent, expires_at } of await branches.presence(await branches.ownBranch())) {
    const key = agentKey(agent);
    if (damaged.has(key)) continue;
    if (fromIso(expires_at) <= clock.now() || (await store.local.session(key)) !== null) continue;
    problems.push({
      kind: 'session_lost',
      path: `mesh/sessions/${key}.json`,
      message: `the session of ${agent} is gone from this store, though others see ${agent} as alive: it has no inbox here`,
      fix: `check in again with git mesh checkin ${agent}, or end it with git mesh checkout ${agent}`,
    });
  }
  return problems;
}
