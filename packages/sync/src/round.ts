import { MeshError, arrivalsOf, commitReceipts, housekeeping, journalOwnBranch, toIso } from '@git-mesh/core';
import type { Branch, JournalEntry, Logger, MeshContext, RemoteState } from '@git-mesh/core';
import { nextDelay } from './backoff.js';
import { deadlineSignal } from './deadline.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { fetchFrom } from './remote-fetch.js';
import type { Fetched } from './remote-fetch.js';
import { pushTo } from './remote-push.js';
import type { RemoteStates } from './remote-states.js';

/** A remote that hangs is given up and named within this time a round. */
export const roundLimitMs = 20_000;

export interface RoundOptions {
  deadlineMs: number;
  /** Set by `git mesh sync`: a person asks, so every remote is tried. */
  ignoreBackoff: boolean;
  signal?: AbortSignal;
}

export interface RoundDependencies {
  mesh: MeshContext;
  remotes: readonly Remote[];
  states: RemoteStates;
  logger: Logger;
  random: () => number;
}

/**
 * One round: what is due here, then for each remote fetch, check and advance; the journal takes what arrived, receipts
 * are stated, and the own branch is pushed. A remote that fails holds up no other; its failure is recorded, not thrown.
 */
export async function round(deps: RoundDependencies, options: RoundOptions): Promise<void> {
  const { mesh, remotes } = deps;
  await housekeeping(mesh);
  const due = await dueRemotes(deps, options);
  const { signal, done } = deadlineSignal(Math.min(options.deadlineMs, roundLimitMs), options.signal);
  try {
    const fetched = new Map<string, Fetched>();
    await Promise.all(
      due.map((remote) =>
        attempt(deps, remote, async () => {
          const before = (await deps.states.get(remote.name))?.rejected ?? [];
          const result = await fetchFrom({ mesh, remote, signal, logger: deps.logger }, before);
          fetched.set(remote.name, result);
          return result.rejected;
        }),
      ),
    );
    await journalArrivals(mesh, deps.logger);
    await Promise.all(
      due.map(async (remote) => {
        const result = fetched.get(remote.name);
        if (result === undefined) return;
        await attempt(deps, remote, async () => {
          await pushTo({ mesh, remote, signal, logger: deps.logger }, result);
          return result.rejected;
        });
      }),
    );
  } finally {
    done();
  }
  await deps.states.flush(remotes.map(({ name }) => name));
}

async function dueRemotes(deps: RoundDependencies, options: RoundOptions): Promise<Remote[]> {
  if (options.ignoreBackoff) return [...deps.remotes];
  const now = toIso(deps.mesh.clock.now());
  const due: Remote[] = [];
  for (const remote of deps.remotes) {
    const next = (await deps.states.get(remote.name))?.next_try_at ?? null;
    if (next === null || next <= now) due.push(remote);
  }
  return due;
}

async function attempt(
  deps: RoundDependencies,
  remote: Remote,
  work: () => Promise<RemoteState['rejected']>,
): Promise<void> {
  const before = await deps.states.get(remote.name);
  const now = deps.mesh.clock.now();
  try {
    const rejected = await work();
    deps.states.set(remote.name, {
      last_ok_at: toIso(deps.mesh.clock.now()),
      next_try_at: null,
      failures: 0,
      error: null,
      rejected,
      writable: true,
    });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const failures = (before?.failures ?? 0) + 1;
    deps.logger.warn(`remote ${remote.name}: ${plainMessage(error)}`);
    deps.states.set(remote.name, {
      last_ok_at: before?.last_ok_at ?? null,
      next_try_at: toIso(now + nextDelay({ failures, random: deps.random })),
      failures,
      error: { name: error.errorName, message: plainMessage(error) },
      rejected: before?.rejected ?? [],
      writable: error.errorName !== 'push_refused',
    });
  }
}

/**
 * Gives every arrival since each sender's cursor its number, and states the receipts where a message for this machine
 * was among them. The cursor is the journal's own, so that a crash between a ref and the journal loses nothing.
 */
async function journalArrivals(mesh: MeshContext, logger: Logger): Promise<void> {
  const { store, branches, clock } = mesh;
  if (!(await anythingNew(mesh))) return;
  const read = await store.withLock(
    async () => {
      const own = await branches.ownBranch();
      await journalOwnBranch(store, own, clock.now());
      const changed: Branch[] = [];
      let arrived = false;
      for (const branch of await branches.all()) {
        if (branch.handle === branches.own) continue;
        const entries = await tryArrivals(mesh, branch, logger);
        if (entries.length === 0) continue;
        await store.journal.append(entries, { durable: true });
        changed.push(branch);
        arrived ||= entries.some(({ kind }) => kind === 'message');
      }
      return arrived ? changed : [];
    },
    { timeoutMs: 15_000 },
  );
  await commitReceipts(mesh, read);
}

async function anythingNew({ branches, store }: MeshContext): Promise<boolean> {
  const view = await store.journal.view();
  return (await branches.all()).some((branch) => view.cursor(branch.handle)?.commit !== branch.tip);
}

/** A branch whose objects cannot be read holds up no other. */
async function tryArrivals(mesh: MeshContext, branch: Branch, logger: Logger): Promise<JournalEntry[]> {
  try {
    return await arrivalsOf(mesh.store, branch, await mesh.store.journal.view(), mesh.clock.now());
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    logger.warn(`the branch of ${branch.handle} cannot be read: ${plainMessage(error)}`);
    return [];
  }
}
