import { randomBytes } from 'node:crypto';
import { Store, agentKey, housekeeping, meshApi, parseAgentId } from '@git-mesh/core';
import type { MeshApi, MeshContext } from '@git-mesh/core';
import { setupContext } from '@git-mesh/sync/testing';
import { quiet } from './world.js';

/** A store's use cases at another time than now, without synchronisation. */
export async function shifted(dir: string, shiftMs: number): Promise<{ ctx: MeshContext; api: MeshApi }> {
  const clock = { now: () => Date.now() + shiftMs };
  const ctx = setupContext(await Store.open(dir, { clock, random: (length) => randomBytes(length), logger: quiet }));
  const facts = { worker: null, remotes: [], problems: [] };
  const api = meshApi(
    ctx,
    () => Promise.resolve(facts),
    () => Promise.resolve([]),
  );
  return { ctx, api };
}

/** What a round does first, at another time. */
export async function housekeepingAt(dir: string, shiftMs: number, active?: string): Promise<void> {
  const { ctx } = await shifted(dir, shiftMs);
  if (active !== undefined) await ctx.store.local.touch(agentKey(parseAgentId(active)), ctx.clock.now());
  await housekeeping(ctx);
}
