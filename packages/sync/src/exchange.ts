import { MeshError, charterRef, toIso } from '@git-mesh/core';
import type { Logger, MeshContext, OddRefs, RemoteState, WentBack } from '@git-mesh/core';
import { carryDelay } from './backoff.js';
import type { CarryDelay } from './backoff.js';
import { afterCarry, behindBranches, carryTo, isCarryDue } from './carry.js';
import type { CarryRules } from './carry.js';
import { deadlineSignal } from './deadline.js';
import { journalArrivals } from './journal-arrivals.js';
import { charterHandle } from './charter-check.js';
import { oddRefs, refsAbove, refsInTheWay } from './in-the-way.js';
import { findWentBack, keptWentBack, lastSeen, trackSeen } from './went-back.js';
import { nothingMoved } from './nothing-moved.js';
import { plainMessage } from './redact.js';
import { learntOf } from './remote-context.js';
import type { Remote, RoundContext } from './remote-context.js';
import { fetchFrom } from './remote-fetch.js';
import type { Fetched } from './remote-fetch.js';
import { refetchLost } from './refetch-lost.js';
import { pushTo } from './remote-push.js';
import type { RemoteStates } from './remote-states.js';
import { stateAfterFailure, turnOf } from './remote-turn.js';
import { toldByPush } from './told-by-push.js';
import { headStart } from './transport/head-start.js';

/** A remote that hangs is given up and named within this time a round. */
export const roundLimitMs = 20_000;

export interface RoundOptions {
  deadlineMs: number;
  /** Set by `git mesh sync`: a person asks, so every remote is tried, and what others wrote is carried without waiting. */
  ignoreBackoff: boolean;
  signal?: AbortSignal;
}

export interface ExchangeDependencies {
  mesh: MeshContext;
  states: RemoteStates;
  logger: Logger;
  random: () => number;
  /** {@link carryDelay} where left out. */
  carry?: CarryDelay;
  /** Called once what arrived has its numbers; returns at once. */
  onJournaled?: () => void;
}

/**
 * One remote's part of a round: fetch, check and advance; the journal takes what arrived; the own branch is pushed, and
 * then what the remote lacks of others' branches. Waits for no other remote. A failure is recorded, not thrown.
 *
 * @throws MeshError for what concerns this store: a full disk, a lock that is held.
 */
export async function exchangeWith(deps: ExchangeDependencies, remote: Remote, options: RoundOptions): Promise<void> {
  const { mesh, states, logger } = deps;
  const before = await states.get(remote.name);
  const turn = await turnOf(mesh, before, options);
  if (turn === 'wait') return;
  states.setUnfinished(remote.name, false);
  // Where looking takes a connection, and one for the push is needed anyway.
  const isToBePushed = remote.transport.view === undefined && turn === 'all' && (await isBehindOwn(deps, remote));
  const { signal, done } = deadlineSignal(Math.min(options.deadlineMs, roundLimitMs), options.signal);
  const hasSeenOwn = states.seen(remote.name)?.has(mesh.store.branch) === true;
  const early = isToBePushed ? headStart(remote.transport, 'git-receive-pack', { signal }) : null;
  // What is learnt in this exchange is noted on the remote that stays, not on its copy.
  if (early !== null) learntOf(remote);
  const ctx: RoundContext = {
    mesh,
    remote: early === null ? remote : { ...remote, transport: early.transport },
    signal,
    logger,
    hasSeenOwn,
  };
  try {
    const isWhole = (await mesh.store.objects.lost.read()) === null;
    if (isWhole && turn === 'all' && !options.ignoreBackoff && before?.error === null) {
      const seen = states.seen(remote.name);
      const work = async (): Promise<boolean> => !(await lacksOwnTip(deps, remote)) && nothingMoved(ctx, before, seen);
      const same = await orRecord(deps, options, { remote, before }, work);
      if (same === true) {
        const state = (await states.get(remote.name)) ?? before;
        states.set(remote.name, { ...state, last_ok_at: toIso(mesh.clock.now()) });
        // The store may have been held, or its disk full, when they came.
        await journalArrivals(mesh);
      }
      if (same !== false) return;
    }
    const fetched = await orRecord(deps, options, { remote, before }, async () => {
      const told = early === null ? null : await toldByPush(ctx, early, states.seen(remote.name));
      return look(told === null ? ctx : { ...ctx, told }, before);
    });
    if (fetched === null) return;
    states.see(remote.name, fetched.there);
    await journalArrivals(mesh);
    deps.onJournaled?.();
    states.setUnfinished(remote.name, fetched.unfinished);
    const answered = await stateAfter(deps, fetched, before);
    if (turn === 'read' && before !== null) {
      const { last_ok_at, rejected, behind, went_back, odd } = answered;
      const { odd: _odd, ...kept } = before;
      const seen = { last_ok_at, rejected, behind: behind ?? [], went_back: went_back ?? [] };
      states.set(remote.name, { ...kept, ...seen, ...(odd === undefined ? {} : { odd }) });
      return;
    }
    await orRecord(deps, options, { remote, before: { ...answered, failures: before?.failures ?? 0 } }, async () => {
      const pushed = await pushTo(ctx, fetched);
      states.setUnfinished(remote.name, fetched.unfinished || pushed.unfinished);
      await seeOwn(deps, remote);
      states.set(remote.name, answered);
      const left = await carryDue(deps, ctx, answered.behind ?? [], options);
      const now = states.seen(remote.name) ?? fetched.there;
      states.set(remote.name, {
        ...answered,
        behind: left,
        went_back: await keptWentBack(mesh, answered.went_back ?? [], now),
      });
    });
  } finally {
    await early?.end();
    done();
    // A machine that only reads never commits: what its fetches left is joined here.
    await mesh.store.consolidate();
    await keepState(deps, remote);
  }
}

interface Looked extends Fetched {
  wentBack: WentBack[];
  odd: OddRefs | null;
}

/** The fetch, and what is wrong with the refs of the remote besides: each of these says so of itself, and ends nothing. */
async function look(ctx: RoundContext, before: RemoteState | null): Promise<Looked> {
  const { mesh } = ctx;
  await refetchLost(ctx);
  const seen = await lastSeen(ctx);
  const fetched = await fetchFrom(ctx, before?.rejected ?? []);
  const { there, hasCharter } = fetched;
  const blocked = await refsInTheWay(ctx, there);
  const known = before?.went_back ?? [];
  // What cannot be there is named as that; and a branch that was not accepted is put back or deleted to mend it.
  const named = new Set([...blocked, ...(before?.rejected ?? [])].map(({ handle }) => handle));
  const free = new Map([...seen].filter(([handle]) => !named.has(handle)));
  const isWhole = !blocked.some(({ handle }) => handle === charterHandle);
  const isShut = refsAbove(mesh.store.config.ref_prefix, there).length > 0;
  const reset = isWhole && !hasCharter;
  const found = isShut ? null : await findWentBack(ctx, { before: free, there, reset, known });
  await trackSeen(ctx, seen, there);
  return {
    ...fetched,
    rejected: [...fetched.rejected.filter(({ handle }) => !blocked.some((one) => one.handle === handle)), ...blocked],
    wentBack: await keptWentBack(mesh, found === null ? known : [...known, found], there),
    odd: oddRefs(mesh.store.config.ref_prefix, there),
  };
}

/**
 * Whether a remote is to be asked again now that branches of this store moved: it lacks the own tip. Notes what it lacks
 * of others, to be carried later. No network.
 */
export async function lacksOwnTip(deps: ExchangeDependencies, remote: Remote): Promise<boolean> {
  const { mesh, states } = deps;
  const seen = states.seen(remote.name);
  // Nobody has looked yet, or looking failed: the next look is under way or waits for its time.
  if (seen === null) return false;
  const state = await states.get(remote.name);
  const own = await mesh.store.refs.read(mesh.store.branch);
  const foreign = state?.rejected.some(({ handle }) => handle === mesh.branches.own) === true;
  if (state !== null) {
    const behind = await behindBranches(mesh, seen, state.behind ?? [], rulesOf(deps));
    if (JSON.stringify(behind) !== JSON.stringify(state.behind ?? [])) {
      states.set(remote.name, { ...state, behind });
      await keepState(deps, remote);
    }
  }
  return own !== null && !foreign && seen.get(mesh.store.branch) !== own;
}

/** Whether the remote lacks the own tip by what is known of it, also by a process that has not looked yet. */
async function isBehindOwn(deps: ExchangeDependencies, remote: Remote): Promise<boolean> {
  if (deps.states.seen(remote.name) !== null) return lacksOwnTip(deps, remote);
  const { store } = deps.mesh;
  const pushed = (await store.journal.view()).pushed.findLast((line) => line.remote === remote.name);
  return pushed !== undefined && pushed.seq > 0 && pushed.commit !== (await store.refs.read(store.branch));
}

async function stateAfter(
  deps: ExchangeDependencies,
  fetched: Looked,
  before: RemoteState | null,
): Promise<RemoteState> {
  const { mesh } = deps;
  return {
    last_ok_at: toIso(mesh.clock.now()),
    next_try_at: null,
    failures: 0,
    error: null,
    rejected: fetched.rejected,
    writable: true,
    behind: await behindBranches(mesh, fetched.there, before?.behind ?? [], rulesOf(deps)),
    went_back: fetched.wentBack,
    ...(fetched.odd === null ? {} : { odd: fetched.odd }),
  };
}

/** What the journal says was pushed is there. */
async function seeOwn({ mesh, states }: ExchangeDependencies, remote: Remote): Promise<void> {
  const { store } = mesh;
  const pushed = (await store.journal.view()).pushed.findLast((line) => line.remote === remote.name);
  const own = await store.refs.read(store.branch);
  // A line with the number 0 says that a remote of this name was made anew.
  if (own !== null && pushed?.commit === own && pushed.seq > 0) states.seeRef(remote.name, store.branch, own);
  const charter = await store.refs.read(charterRef(store.config.ref_prefix));
  if (charter !== null) states.seeRef(remote.name, charterRef(store.config.ref_prefix), charter);
}

/** Carries what is due; gives what is still behind. */
async function carryDue(
  deps: ExchangeDependencies,
  ctx: RoundContext,
  behind: RemoteState['behind'] & {},
  options: RoundOptions,
): Promise<RemoteState['behind'] & {}> {
  const { mesh, remote } = ctx;
  const due = behind.filter((entry) => options.ignoreBackoff || isCarryDue(entry, mesh.clock.now()));
  if (due.length === 0) return behind;
  const became = await carryTo(ctx, due);
  for (const { handle } of due) {
    const tip = became.get(handle);
    const ref = `${mesh.store.config.ref_prefix}${handle}`;
    if (tip !== undefined && tip !== 'refused') deps.states.seeRef(remote.name, ref as typeof mesh.store.branch, tip);
  }
  return afterCarry(mesh, behind, became, rulesOf(deps));
}

const rulesOf = ({ random, carry }: ExchangeDependencies): CarryRules => ({ random, delay: carry ?? carryDelay });

/** Null where it failed. Records the failure of an exchange, unless we broke it off ourselves. */
async function orRecord<T>(
  deps: ExchangeDependencies,
  options: RoundOptions,
  { remote, before }: { remote: Remote; before: RemoteState | null },
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    if (options.signal?.aborted === true) return null;
    deps.logger.warn(`remote ${remote.name}: ${plainMessage(error)}`);
    deps.states.set(remote.name, await stateAfterFailure(deps, before, error));
    return null;
  }
}

/** Writes what became of the exchange, unless the remote was removed meanwhile. */
async function keepState({ mesh, states }: ExchangeDependencies, { name }: Remote): Promise<void> {
  const isKept = async (): Promise<boolean> =>
    (await mesh.store.refreshRemotes()).some((remote) => remote.name === name);
  if (await isKept()) {
    try {
      await states.flush([name]);
    } catch (error) {
      // The remote's own failure is told from memory; that it cannot be written down as well says nothing more.
      const isDisk = error instanceof MeshError && ['read_only', 'disk_full'].includes(error.errorName);
      if (!isDisk || (await states.get(name))?.error === null) throw error;
      mesh.logger.debug(`the state of remote ${name} is not kept: ${plainMessage(error)}`);
    }
  }
  // Or removed while it was written.
  if (await isKept()) return;
  states.forget(name);
  await mesh.store.local.removeRemote(name);
}
