import { admitInvited, branchRef, charterRef, cutOf, handleOfRef, remoteRef, seqOf } from '@git-mesh/core';
import type { Handle, MeshContext, Oid, RefName, RemoteState, Roster } from '@git-mesh/core';
import { acceptAdmitted } from './accept-admitted.js';
import { acceptBranches, inGroups } from './accept.js';
import { charterHandle, checkCharter } from './charter-check.js';
import { copyNew } from './copy-new.js';
import { fetchObjects } from './fetch-objects.js';
import type { Wanted } from './fetch-objects.js';
import { moveRef } from './move-ref.js';
import { liftHold, reconcileOwn } from './own-branch.js';
import { readableCommit } from './readable-commit.js';
import { learntOf, limitsOf } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import type { RemoteView } from './transport/port.js';

export type Rejected = RemoteState['rejected'][number];

export interface Fetched {
  /** The own branch's tip there, as advertised; null where the remote has none. */
  ownThere: Oid | null;
  /** False on a remote that is empty or was reset: it gets the charter again. */
  hasCharter: boolean;
  /** True where there is no ref at all. */
  empty: boolean;
  /** All that it has, as advertised. */
  there: ReadonlyMap<RefName, Oid>;
  rejected: Rejected[];
  /** True where more is there than was taken in: another round goes on, and need not wait. */
  unfinished: boolean;
}

const refsAtOnce = 16;
/** How a broken ref is advertised: as no object. */
const noObject = '0'.repeat(40) as Oid;
/** A branch that could not be had is asked for again by a process after this time. */
const askAgainAfterMs = 30_000;

/**
 * Brings in what a remote has: fetches what is new, leaves it under refs/remotes, and moves the accepted tips of the
 * branches that pass the checks. One branch that does not pass, or cannot be had, holds up no other. What came stays,
 * however far the checks got.
 *
 * @throws MeshError for what concerns the remote as a whole, `different_mesh` among it.
 */
export async function fetchFrom(ctx: RoundContext, before: readonly Rejected[]): Promise<Fetched> {
  const { mesh, remote, signal } = ctx;
  const { config, objects } = mesh.store;
  const limits = limitsOf(remote);
  const overAt = performance.now() + limits.fetchMs;
  const view = await viewOf(ctx);
  const told = view?.refs ?? ctx.told;
  const exchange = told === undefined ? await remote.transport.open('git-upload-pack', { signal }) : null;
  try {
    const refs = told ?? exchange?.advertised.refs ?? new Map<RefName, Oid>();
    const { tips, broken } = await changedTips(ctx, refs, before);
    let missing = await missingOf(ctx, tips);
    if (view !== null && missing.length > 0) {
      await copyNew(ctx, view, missing);
      missing = await missingOf(ctx, missing);
    }
    const brought = missing.length > 0 ? await fetchObjects(ctx, exchange, missing) : { failed: [], unfinished: false };
    noteAsked(ctx, brought.failed);
    const rejected = new Map((await stillRejected(mesh, before, refs)).map((entry) => [entry.handle, entry]));
    for (const entry of [...broken, ...brought.failed]) rejected.set(entry.handle, entry);
    const here: Wanted[] = [];
    for (const tip of tips) if (await objects.has(tip.oid)) here.push(tip);
    // Before the branches: a repository that is another mesh's has none of ours.
    const charter = await checkCharter(ctx, refs);
    if (charter !== null) rejected.set(charter.handle, charter);
    const branches = here.filter(({ handle }) => handle !== charterHandle);
    const others = branches.filter(({ handle }) => handle !== config.handle);
    await inGroups(others, refsAtOnce, ({ handle, oid }) =>
      moveRef(mesh.store, remoteRef(remote.name, config.ref_prefix, handle), oid),
    );
    for (const { handle } of branches) rejected.delete(handle);
    for (const { oid } of branches.filter(({ handle }) => handle === config.handle)) {
      const problem = await reconcileOwn(ctx, oid);
      if (problem !== null) rejected.set(config.handle, problem);
    }
    if (!rejected.has(config.handle)) await liftHold(ctx);
    const isOver = (): boolean => signal.aborted || performance.now() >= overAt;
    // Before the checks: who is admitted now is accepted now.
    await admitInvited(mesh);
    const accepted = await acceptBranches(mesh, others, { limits, isOver });
    for (const entry of accepted.rejected) rejected.set(entry.handle, entry);
    for (const handle of await takeReopened(ctx, { before, others, isOver })) rejected.delete(handle);
    await acceptAdmitted(mesh, { limits, isOver });
    return {
      ownThere: refs.get(mesh.store.branch) ?? null,
      hasCharter: refs.has(charterRef(config.ref_prefix)),
      empty: refs.size === 0,
      there: refs,
      rejected: await stillRejected(mesh, [...rejected.values()], refs),
      unfinished: brought.unfinished || accepted.unfinished,
    };
  } finally {
    await exchange?.close();
  }
}

/** Where all of the history is wanted and what is here is whole: else a server has to put together what is missing. */
async function viewOf({ mesh, remote, signal, depth }: RoundContext): Promise<RemoteView | null> {
  if (depth !== undefined || (await mesh.store.objects.lost.read()) !== null) return null;
  return (await remote.transport.view?.({ signal })) ?? null;
}

async function missingOf({ mesh }: RoundContext, tips: readonly Wanted[]): Promise<Wanted[]> {
  const missing: Wanted[] = [];
  for (const tip of tips) if (!(await mesh.store.objects.has(tip.oid))) missing.push(tip);
  return missing;
}

/** What was refused before and, by what this very fetch brought, no longer is. Gives those that are accepted now. */
async function takeReopened(
  { mesh, remote }: RoundContext,
  { before, others, isOver }: { before: readonly Rejected[]; others: readonly Wanted[]; isOver: () => boolean },
): Promise<Handle[]> {
  const roster = await mesh.branches.roster();
  const due: Wanted[] = [];
  for (const entry of before) {
    const wanted = { handle: entry.handle as Handle, oid: entry.tip };
    if (entry.kind !== 'revoked' || !isOpenAgain(roster, entry)) continue;
    if (others.some(({ handle }) => handle === wanted.handle) || !(await mesh.store.objects.has(wanted.oid))) continue;
    due.push(wanted);
  }
  if (due.length === 0) return [];
  const { rejected } = await acceptBranches(mesh, due, { limits: limitsOf(remote), isOver });
  return due.map(({ handle }) => handle).filter((handle) => !rejected.some((entry) => entry.handle === handle));
}

/** Branches that must be looked at: their tip there is neither accepted, nor refused before, nor known to be behind. */
async function changedTips(
  ctx: RoundContext,
  refs: ReadonlyMap<RefName, Oid>,
  before: readonly Rejected[],
): Promise<{ tips: Wanted[]; broken: Rejected[] }> {
  const { config, objects, refs: local } = ctx.mesh.store;
  const roster = await ctx.mesh.branches.roster();
  const tips: Wanted[] = [];
  const broken: Rejected[] = [];
  const refused = new Map(before.map((entry) => [entry.handle, entry]));
  for (const [ref, oid] of refs) {
    const isCharter = ref === charterRef(config.ref_prefix);
    const handle = isCharter ? charterHandle : handleOfRef(config.ref_prefix, ref);
    if (handle === null || (await local.read(ref)) === oid) continue;
    if (oid === noObject) {
      broken.push(brokenRef(handle, ref));
      continue;
    }
    const one = refused.get(handle);
    const known = one?.tip === oid ? one : undefined;
    const seen = (await local.read(remoteRef(ctx.remote.name, config.ref_prefix, handle))) === oid;
    // That it was fetched is no proof that it was decided on: a crash, or a held store, may have come between.
    if (
      seen &&
      ((known !== undefined && !isOpenAgain(roster, known)) || (!isCharter && (await isBehind(ctx.mesh, handle, oid))))
    )
      continue;
    if (known !== undefined && !(await objects.has(oid)) && !isToBeAskedAgain(ctx, known)) continue;
    // The charter first: its check comes before the branches'.
    if (isCharter) tips.unshift({ handle, oid });
    else tips.push({ handle, oid });
  }
  return { tips, broken };
}

/** What was refused by what members said, who said something else since. */
export function isOpenAgain(roster: Roster, { handle, kind }: Pick<Rejected, 'handle' | 'kind'>): boolean {
  // Our own words, read back: the handle was one when it was written.
  const machine = handle as Handle;
  if (kind === 'not_admitted') return roster.ruling.admitted.has(machine);
  return kind === 'revoked' && cutOf(roster, machine) === null;
}

/** Git's services tell of a ref whose file is empty or no object id, and of nothing wrong with it. */
const brokenRef = (handle: Handle, ref: RefName): Rejected => ({
  handle,
  tip: noObject,
  kind: 'broken_ref',
  message: `${ref} is broken there: its file names no object. Its last good commit may be in another machine's store; have it deleted in the repository (git update-ref -d ${ref}, or remove the file), and its machine pushes it again`,
});

/** The same tip is as large the next time; what a repository lacked may have been put back. */
function isToBeAskedAgain({ remote }: RoundContext, { kind, tip }: Rejected): boolean {
  if (kind === 'too_large') return false;
  const asked = remote.learnt?.askedAt.get(tip);
  return asked === undefined || performance.now() - asked >= askAgainAfterMs;
}

function noteAsked({ remote }: RoundContext, failed: readonly Rejected[]): void {
  for (const { tip } of failed) learntOf(remote).askedAt.set(tip, performance.now());
}

/** By its counter alone: what was looked at once need not be walked again every round. */
async function isBehind(mesh: MeshContext, handle: Handle, oid: Oid): Promise<boolean> {
  if (handle === mesh.branches.own) return false;
  const accepted = await mesh.branches.get(handle);
  const commit = accepted === null ? null : await readableCommit(mesh.store.objects, oid);
  if (accepted === null || commit === null) return false;
  const seq = seqOf(commit);
  return seq !== null && seq < accepted.seq;
}

/** What was refused before, where it still is the branch's tip there and was not accepted since by another way. */
async function stillRejected(
  { store }: MeshContext,
  before: readonly Rejected[],
  refs: ReadonlyMap<RefName, Oid>,
): Promise<Rejected[]> {
  const still: Rejected[] = [];
  for (const entry of before) {
    // Our own words, read back: the handle was one when it was written.
    const ref = branchRef(store.config.ref_prefix, entry.handle as Handle);
    if (refs.get(ref) === entry.tip && (await store.refs.read(ref)) !== entry.tip) still.push(entry);
  }
  return still;
}
