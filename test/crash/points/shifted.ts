import { randomBytes } from 'node:crypto';
import { Branches, Store, agentKey, housekeeping, meshApi, parseAgentId } from '@git-mesh/core';
import type { MeshApi, MeshContext } from '@git-mesh/core';
import { quiet } from './world.js';

/** A store's use cases at another time than now, without synchronisation. */
export async function shifted(dir: string, shiftMs: number): Promise<{ ctx: MeshContext; api: MeshApi }> {
  const clock = { now: () => Date.now() + shiftMs };
  const random = (length: number): Uint8Array => randomBytes(length);
  const store = await Store.open(dir, { clock, random, logger: quiet });
  const ctx: MeshContext = {
    store,
    branches: new Branches(store),
    clock,
    random,
    logger: quiet,
    platform: process.platform,
    syncer: {
      round: () => Promise.resolve(),
      summary: () => Promise.resolve({ state: 'none', last_ok_at: null, queued: 0, error: null }),
      workerAlive: () => Promise.resolve(false),
      arrival: () => Promise.resolve(),
    },
  };
  return { ctx, api: meshApi(ctx, () => Promise.resolve({ worker: null, remotes: [], problems: [] })) };
}

/** What a round does first, at another time. */
export async function housekeepingAt(dir: string, shiftMs: number, active?: string): Promise<void> {
  const { ctx } = await shifted(dir, shiftMs);
  if (active !== undefined) await ctx.store.local.touch(agentKey(parseAgentId(active)), ctx.clock.now());
  await housekeeping(ctx);
}
