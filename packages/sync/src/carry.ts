import { MeshError, branchRef, fromIso, toIso } from '@git-mesh/core';
import type { BehindBranch, Branch, MeshContext, Oid, RefName } from '@git-mesh/core';
import { nextCarry } from './backoff.js';
import type { CarryDelay } from './backoff.js';
import { newObjects } from './new-objects.js';
import { leadsTo } from './readable-commit.js';
import type { RoundContext } from './remote-context.js';
import { pushRefs } from './transport/push.js';
import type { RefUpdate } from './transport/push.js';

export interface CarryRules {
  /** Gives numbers from 0 up to 1. */
  random: () => number;
  delay: CarryDelay;
}

/** No wait is longer: what is due later was written by a clock that ran ahead. */
const longestWaitMs = 3_600_000;

/**
 * The branches of others of which a remote has less than this store, or nothing: what is to be carried there, and when.
 * Only accepted tips, and only where the remote's own tip lies on the way to them. A branch that was behind at the same
 * tip already keeps its time. No network.
 */
export async function behindBranches(
  mesh: MeshContext,
  there: ReadonlyMap<RefName, Oid>,
  known: readonly BehindBranch[],
  rules: CarryRules,
): Promise<BehindBranch[]> {
  const { branches, clock } = mesh;
  const behind: BehindBranch[] = [];
  // One for all of a round, so that they go out in one push.
  const dueAt = toIso(clock.now() + nextCarry({ refusals: 0, ...rules }));
  const cutOff = new Set((await branches.edges()).map(({ machine }) => machine));
  for (const branch of await branches.all()) {
    if (branch.handle === branches.own) continue;
    const tip = there.get(refOf(mesh, branch.handle)) ?? null;
    // Of a branch that is missing there all would have to go out, and this store has only a part.
    if (tip === branch.tip || (tip === null && cutOff.has(branch.handle))) continue;
    const before = known.find((entry) => entry.handle === branch.handle && entry.there === tip);
    if (before !== undefined) behind.push(before);
    // Whoever may push can put there what is no commit: nothing goes on from it, and it must not end the round.
    else if (tip === null || (await leadsTo(mesh.store.objects, tip, branch.tip))) {
      behind.push({ handle: branch.handle, there: tip, due_at: dueAt, refusals: 0 });
    }
  }
  return behind;
}

export function isCarryDue({ due_at: at }: BehindBranch, now: number): boolean {
  const due = fromIso(at);
  return due <= now || due - now > longestWaitMs;
}

/** Milliseconds since 1970 at which the next branch is to be carried; null where none is. */
export function nextCarryAt(behind: readonly BehindBranch[]): number | null {
  return behind.length === 0 ? null : Math.min(...behind.map(({ due_at: at }) => fromIso(at)));
}

/**
 * Carries branches to a remote in one push, with exactly the objects that are new there, each with the tip we saw as its
 * lease. Never forces. A refusal is no error: it is remembered, and the branch waits.
 *
 * @returns what became of each: the tip that the remote has now, `refused`, or undefined where it had moved meanwhile.
 * @throws MeshError what the transport throws, but for `push_refused` and `auth_failed`, which are refusals.
 */
export async function carryTo(
  ctx: RoundContext,
  due: readonly BehindBranch[],
): Promise<ReadonlyMap<string, Oid | 'refused'>> {
  try {
    return await push(ctx, due);
  } catch (error) {
    // We were let in to read a moment ago: who may not push may not carry either.
    if (!(error instanceof MeshError) || !['push_refused', 'auth_failed'].includes(error.errorName)) throw error;
    ctx.logger.info(`remote ${ctx.remote.name} takes no branches of others: ${error.message}`);
    return new Map(due.map(({ handle }) => [handle, 'refused']));
  }
}

async function push(ctx: RoundContext, due: readonly BehindBranch[]): Promise<ReadonlyMap<string, Oid | 'refused'>> {
  const { mesh, remote, signal, logger } = ctx;
  const { objects, refs } = mesh.store;
  const became = new Map<string, Oid | 'refused'>();
  const exchange = await remote.transport.open('git-receive-pack', { signal });
  try {
    const updates = new Map<RefUpdate, string>();
    const wanted = new Set<Oid>();
    for (const { handle, there } of due) {
      const ref = refOf(mesh, handle);
      const now = exchange.advertised.refs.get(ref) ?? null;
      const next = await refs.read(ref);
      if (next === null) continue;
      if (now === next) became.set(handle, next);
      // The owner came first, or another carrier: the next look tells what is still missing.
      if (now !== there || now === next) continue;
      updates.set({ ref, expected: there, next }, handle);
      for (const oid of await newObjects(objects, there, next)) wanted.add(oid);
    }
    if (updates.size === 0) return became;
    const pack = await objects.pack([...wanted]);
    const results = await pushRefs(exchange, { updates: [...updates.keys()], pack, atomic: false, signal });
    for (const [update, handle] of updates) {
      const result = results.find(({ ref }) => ref === update.ref);
      became.set(handle, result?.ok === true ? update.next : 'refused');
      if (result?.ok !== true)
        logger.info(`remote ${remote.name} did not take the branch of ${handle}: ${result?.reason ?? ''}`);
    }
    return became;
  } finally {
    await exchange.close();
  }
}

/** What is still behind after a push, a refused branch with its next time. */
export function afterCarry(
  mesh: MeshContext,
  behind: readonly BehindBranch[],
  became: ReadonlyMap<string, Oid | 'refused'>,
  rules: CarryRules,
): BehindBranch[] {
  return behind.flatMap((entry) => {
    const end = became.get(entry.handle);
    if (end === undefined) return [entry];
    if (end !== 'refused') return [];
    const refusals = entry.refusals + 1;
    return [{ ...entry, refusals, due_at: toIso(mesh.clock.now() + nextCarry({ refusals, ...rules })) }];
  });
}

/** Handles of our own words, read back, and of accepted branches: each was one when it was written. */
const refOf = ({ store }: MeshContext, handle: string): RefName =>
  branchRef(store.config.ref_prefix, handle as Branch['handle']);
