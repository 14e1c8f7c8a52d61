import { MeshError, fromIso, housekeeping, toIso } from '@git-mesh/core';
import type { Logger, MeshContext, RemoteState } from '@git-mesh/core';
import { longestDelayMs, nextDelay } from './backoff.js';
import { deadlineSignal } from './deadline.js';
import { journalArrivals } from './journal-arrivals.js';
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
  /** Called once what arrived has its numbers; returns at once. */
  onJournaled?: () => void;
}

/**
 * One round: what is due here, then for each remote fetch, check and advance; the journal takes what arrived, receipts
 * are stated, and the own branch is pushed. A remote that fails holds up no other; its failure is recorded, not thrown.
 */
export async function round(deps: RoundDependencies, options: RoundOptions): Promise<void> {
  const { mesh, remotes, logger } = deps;
  await housekeeping(mesh);
  const due = await dueRemotes(deps, options);
  const { signal, done } = deadlineSignal(Math.min(options.deadlineMs, roundLimitMs), options.signal);
  try {
    const fetched = new Map<string, Fetched>();
    await Promise.all(
      due.map(({ remote, before }) =>
        orRecord(deps, options, { remote, before }, async () => {
          fetched.set(remote.name, await fetchFrom({ mesh, remote, signal, logger }, before?.rejected ?? []));
        }),
      ),
    );
    await journalArrivals(mesh);
    deps.onJournaled?.();
    await Promise.all(
      due.map(async ({ remote, before, push }) => {
        const result = fetched.get(remote.name);
        if (result === undefined) return;
        const answered: RemoteState = {
          last_ok_at: toIso(mesh.clock.now()),
          next_try_at: null,
          failures: 0,
          error: null,
          rejected: result.rejected,
          writable: true,
        };
        if (!push && before !== null) {
          const { last_ok_at, rejected } = answered;
          deps.states.set(remote.name, { ...before, last_ok_at, rejected });
          return;
        }
        const failures = before?.failures ?? 0;
        await orRecord(deps, options, { remote, before: { ...answered, failures } }, async () => {
          await pushTo({ mesh, remote, signal, logger }, result);
          deps.states.set(remote.name, answered);
        });
      }),
    );
  } finally {
    done();
  }
  await deps.states.flush(remotes.map(({ name }) => name));
}

interface Due {
  remote: Remote;
  before: RemoteState | null;
  /** False while only pushing must wait: a remote that takes nothing from us is read all the same. */
  push: boolean;
}

async function dueRemotes(deps: RoundDependencies, options: RoundOptions): Promise<Due[]> {
  const due: Due[] = [];
  for (const remote of deps.remotes) {
    const before = await deps.states.get(remote.name);
    const waits = !options.ignoreBackoff && isWaiting(before, deps.mesh.clock.now());
    if (waits && before?.writable !== false) continue;
    due.push({ remote, before, push: !waits });
  }
  return due;
}

/** A time further off than any back-off was written by a clock that ran ahead. */
function isWaiting(state: RemoteState | null, now: number): boolean {
  const next = state?.next_try_at ?? null;
  return next !== null && fromIso(next) > now && fromIso(next) - now <= longestDelayMs;
}

/** Records the failure of an exchange, unless we broke it off ourselves. */
async function orRecord(
  deps: RoundDependencies,
  options: RoundOptions,
  { remote, before }: Pick<Due, 'remote' | 'before'>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    if (options.signal?.aborted === true) return;
    const failures = (before?.failures ?? 0) + 1;
    deps.logger.warn(`remote ${remote.name}: ${plainMessage(error)}`);
    deps.states.set(remote.name, {
      last_ok_at: before?.last_ok_at ?? null,
      next_try_at: toIso(deps.mesh.clock.now() + nextDelay({ failures, random: deps.random })),
      failures,
      error: { name: error.errorName, message: plainMessage(error) },
      rejected: before?.rejected ?? [],
      writable: error.errorName === 'push_refused' ? false : (before?.writable ?? true),
    });
  }
}
