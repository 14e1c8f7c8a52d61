import { fromIso, toIso } from '@git-mesh/core';
import type { MeshContext, MeshError, RemoteState } from '@git-mesh/core';
import { longestDelayMs, longestRefusalMs, longestRetryAfterMs, nextDelay } from './backoff.js';
import { plainMessage } from './redact.js';

/**
 * `wait`: not before its time. `read`: only pushing must wait, since a remote that takes nothing from us is read all the
 * same; once there is something new to push, it is asked again.
 */
export async function turnOf(
  { clock, store }: MeshContext,
  before: RemoteState | null,
  options: { ignoreBackoff: boolean },
): Promise<'wait' | 'read' | 'all'> {
  if (options.ignoreBackoff || before === null || !isWaiting(before, clock.now())) return 'all';
  if (before.writable) return 'wait';
  const own = await store.refs.read(store.branch);
  return before.refused_tip === undefined || before.refused_tip === own ? 'read' : 'all';
}

function isWaiting(state: RemoteState, now: number): boolean {
  if (state.next_try_at === null) return false;
  const next = fromIso(state.next_try_at);
  if (next <= now) return false;
  // A clock that was put back must not hold up a remote.
  return state.failed_at === undefined ? next - now <= longestDelayMs : fromIso(state.failed_at) <= now;
}

/** The remote's state after an exchange that failed, with the time before which it is not asked again. */
export async function stateAfterFailure(
  { mesh, random }: { mesh: MeshContext; random: () => number },
  before: RemoteState | null,
  error: MeshError,
): Promise<RemoteState> {
  const failures = (before?.failures ?? 0) + 1;
  const now = mesh.clock.now();
  const refused = error.errorName === 'push_refused';
  const own = refused ? await mesh.store.refs.read(mesh.store.branch) : (before?.refused_tip ?? null);
  const asked = error.data['retry_after_ms'];
  const waitMs = Math.max(
    nextDelay({ failures, random, longest: refused ? longestRefusalMs : longestDelayMs }),
    typeof asked === 'number' ? Math.min(asked, longestRetryAfterMs) : 0,
  );
  return {
    last_ok_at: before?.last_ok_at ?? null,
    next_try_at: toIso(now + waitMs),
    failures,
    error: { name: error.errorName, message: plainMessage(error) },
    rejected: before?.rejected ?? [],
    writable: refused ? false : (before?.writable ?? true),
    failed_at: toIso(now),
    behind: before?.behind ?? [],
    went_back: before?.went_back ?? [],
    ...(before?.odd === undefined ? {} : { odd: before.odd }),
    ...(own === null ? {} : { refused_tip: own }),
  };
}
