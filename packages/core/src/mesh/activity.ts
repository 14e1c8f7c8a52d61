import type { CallOptions } from '../api.js';
import { agentKey, fromIso } from '../domain/ids.js';
import type { AgentId, AgentKey } from '../domain/ids.js';
import { renewalDue } from '../domain/presence.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { renew } from './housekeeping.js';
import { liveSession } from './sessions.js';
import type { LiveSession } from './sessions.js';
import { isDiskTrouble } from './disk-trouble.js';

/** A worker comes by every 5 s: what has less than this left is not left to it. */
const urgentMs = 10_000;

/**
 * A mesh call is activity of the agent it names and of those that checked in over its connection. It is noted locally
 * only, and revives nobody whose session is over. Gives those whose session it is.
 */
export async function noteActivity(ctx: MeshContext, call: CallOptions, named: AgentId | null): Promise<LiveSession[]> {
  const keys = new Set<string>(call.connection.agents);
  if (named !== null) keys.add(agentKey(named));
  if (keys.size === 0) return [];
  const branch = await ctx.branches.ownBranch();
  const active: LiveSession[] = [];
  for (const key of keys) {
    const live = await liveSession(ctx, branch, key as AgentKey);
    if (live === null) continue;
    await touch(ctx, live.key);
    active.push(live);
  }
  return active;
}

/**
 * The same for a call that makes no commit that a renewal could ride along with: where the published life is about to
 * end it is renewed here, or others would see an agent dead that spoke a moment ago.
 */
export async function noteActivityAlone(ctx: MeshContext, call: CallOptions, named: AgentId | null): Promise<void> {
  const active = await noteActivity(ctx, call, named);
  const now = ctx.clock.now();
  const urgent = active.some(
    ({ record }) => fromIso(record.expires_at) - now < urgentMs && renewalDue({ record, lastActivity: now, now }),
  );
  if (!urgent) return;
  try {
    await renew(ctx);
  } catch (error) {
    // Whoever holds the store so long may well renew it; a call that reads does not fail for it.
    if (!isDiskTrouble(error) && !(error instanceof MeshError && error.errorName === 'locked')) throw error;
    ctx.logger.debug(`presence was not renewed: ${error.message}`);
  }
}

/** On a disk that takes nothing any more, what only reads still answers. */
export async function touch(ctx: MeshContext, key: AgentKey): Promise<void> {
  try {
    await ctx.store.local.touch(key, ctx.clock.now());
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    ctx.logger.warn(`the activity of ${key} could not be noted: ${error.message}`);
  }
}

/** Tells the worker, in whichever process it is, that an agent waits for so long: it then asks quick remotes more often. */
export async function noteWait(ctx: MeshContext, ms: number): Promise<void> {
  try {
    await ctx.store.local.putWaitingUntil(ctx.clock.now() + ms);
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    ctx.logger.debug(`a wait could not be noted: ${error.message}`);
  }
}
