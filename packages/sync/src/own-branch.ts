import {
  MeshError,
  commitsBetween,
  forkPoint,
  heldProblem,
  isAncestor,
  journalOwnBranch,
  keysOf,
  quarantineRef,
  replayCommits,
  seqOf,
  toIso,
} from '@git-mesh/core';
import type { Hold, MachineRecord, MeshContext, Oid } from '@git-mesh/core';
import { moveRef } from './move-ref.js';
import type { RoundContext } from './remote-context.js';
import type { Rejected } from './remote-fetch.js';
import { planAdvance, readMachine, verifyAdvance, verifyCommits, verifyTip } from './verify.js';
import type { Reject } from './verify.js';

/**
 * The own branch at a remote is at `to`, which is not what is here. What this store's own key signed there is its own:
 *
 * - where it goes on from here, it is taken back: the store was put back from a backup, or its disk lost its last writes;
 * - where both went on, what was not published from here is made anew on top of it: the store wrote before it looked.
 *
 * All else is kept under refs/quarantine and reported, and nothing is overwritten. Where another store's branch is found
 * under this handle, or where a copy of this store writes too, this store stops writing.
 *
 * @returns why nothing can be pushed there; null where all is well
 */
export async function reconcileOwn(ctx: RoundContext, to: Oid): Promise<Rejected | null> {
  const { mesh } = ctx;
  const { branch, config, key, objects, refs } = mesh.store;
  const accepted = await refs.read(branch);
  if (accepted === to) return null;
  const copied = await copyOf(mesh);
  if (copied !== null) return { handle: config.handle, tip: to, kind: 'store_copied', message: copied };
  const stated = await ownKey(ctx);
  const wanted = { objects, handle: config.handle, mesh: config.mesh.id, accepted, to, pinned: stated };
  const verdict = await verifyAdvance(wanted);
  if (verdict.kind === 'behind') return null;
  const isOurs = verdict.kind === 'advance' && verdict.machine.store === config.store;
  if (isOurs && (await key.holds(verdict.machine.key))) {
    const took = await takeBack(mesh, { accepted, to });
    // Another process of this store came first; the next look tells the rest.
    if (took && accepted !== null) await suspectCopy(ctx, to);
    return null;
  }
  const why = verdict.kind === 'reject' ? verdict.message : 'it names another store';
  const found = await soundMachine(ctx, to);
  if (found === null) return foreign(ctx, to, why);
  if (found.store === config.store && (isOurs || (await changedKeys(ctx, stated, found)))) {
    return foreign(ctx, to, keysOf(found).includes(stated) ? lacksKey : rotatedApart);
  }
  if (found.store !== config.store || found.key !== stated) return anotherStore(ctx, to, found, why);
  const refusal = accepted === null ? why : await takeTogether(ctx, { to, ours: accepted });
  if (refusal !== null) return foreign(ctx, to, refusal);
  await suspectCopy(ctx, to);
  return null;
}

/** Of a copy nothing goes to its branch anywhere, what waited in it either; a person says which of the two goes on. */
async function copyOf({ store }: MeshContext): Promise<string | null> {
  const held = await store.ownership.held();
  return held?.kind === 'copied' ? heldProblem(held, { handle: store.config.handle, dir: store.dir }).message : null;
}

const lacksKey =
  'its key was rotated there, and this store was put back from before that: put mesh/key back from a later backup, or join under another handle';
const rotatedApart =
  'its key was rotated here and other commits were made there: what an old key signed cannot be made anew';

/** The key that the own branch states; that of the file where there is no branch. */
async function ownKey({ mesh }: RoundContext): Promise<string> {
  const { branches, store } = mesh;
  return (await branches.get(branches.own))?.machine?.key ?? store.signer.publicKey;
}

/** Whether the key was rotated on one side of a fork: nobody can sign anew what an old key signed. */
async function changedKeys({ mesh }: RoundContext, stated: string, found: MachineRecord): Promise<boolean> {
  if (found.key === stated) return false;
  const { machine } = await mesh.branches.ownBranch();
  return keysOf(found).includes(stated) || (machine !== null && keysOf(machine).includes(found.key));
}

/** The remote has nothing of the own branch that is not this store's: what was found there before is settled. */
export async function liftHold({ mesh, remote }: RoundContext): Promise<void> {
  const { local } = mesh.store;
  const hold = await local.hold();
  if (hold?.kind === 'handle_conflict' && hold.remote === remote.name) await local.putHold(null);
}

async function takeBack(mesh: MeshContext, { accepted, to }: { accepted: Oid | null; to: Oid }): Promise<boolean> {
  const { branch, refs } = mesh.store;
  return mesh.store.withLock(async () => {
    if ((await refs.read(branch)) !== accepted) return false;
    await refs.update(branch, { expected: accepted, next: to });
    return true;
  });
}

/** Null once the own branch goes on from `to`, with all that was only here on top of it; else why that cannot be. */
async function takeTogether(ctx: RoundContext, { to, ours }: { to: Oid; ours: Oid }): Promise<string | null> {
  const { mesh } = ctx;
  const { branch, config, journal, objects, refs, signer } = mesh.store;
  const base = await forkPoint(objects, ours, to);
  if (base === null) return 'it shares no commit with the branch here';
  const bad = await verifyFrom(ctx, base, to);
  if (bad !== null) return bad.message;
  return mesh.store.withLock(async () => {
    const own = await mesh.branches.ownBranch();
    const commits = await commitsBetween(objects, base, own.tip);
    if (commits === null || (await isAncestor(objects, to, own.tip))) return null;
    if (await isPublishedElsewhere(ctx, { base, tip: own.tip })) {
      return 'what this machine wrote since went to another remote, while it has other commits of this machine here';
    }
    // Whatever is on the branch has its number before the branch is another one.
    await journalOwnBranch(mesh.store, own, mesh.clock.now());
    await mesh.store.key.settle(own.machine?.key ?? null);
    const made = await replayCommits(mesh.store, { commits, onto: to, now: mesh.clock.now() });
    // Do not reorder: the commits that are replaced are kept, and what the journal says of them is right, before the
    // branch moves. What a crash leaves is done again.
    await moveRef(mesh.store, quarantineRef(config.handle, own.tip), own.tip);
    await journal.append(
      made.moved.map((entry) => ({ kind: 'moved', ...entry })),
      { durable: true },
    );
    await refs.update(branch, { expected: own.tip, next: made.tip });
    ctx.logger.warn(
      `this store was put back from a backup, or is a copy (its key is ${signer.publicKey.slice(-12)}): ` +
        `${commits.length} commits that only it had now follow those of remote ${ctx.remote.name}`,
    );
    return null;
  });
}

async function verifyFrom(ctx: RoundContext, base: Oid, to: Oid): Promise<Reject | null> {
  const { mesh } = ctx;
  const { config, objects } = mesh.store;
  const wanted = { handle: config.handle, mesh: config.mesh.id, pinned: await ownKey(ctx) };
  const plan = await planAdvance({ objects, ...wanted, accepted: base, to });
  if (plan.kind === 'reject') return plan;
  return plan.kind === 'advance' ? verifyCommits(objects, plan.commits) : null;
}

/** Whether other machines may have taken in what would be made anew. */
async function isPublishedElsewhere(
  { mesh, remote }: RoundContext,
  { base, tip }: { base: Oid; tip: Oid },
): Promise<boolean> {
  const { journal, objects } = mesh.store;
  const through = seqOf(await objects.commit(base)) ?? 0;
  for (const { name } of mesh.store.config.remotes.filter((other) => other.name !== remote.name)) {
    const last = (await journal.view()).pushed.findLast((line) => line.remote === name);
    if (last === undefined || last.seq <= through || !(await objects.has(last.commit))) continue;
    if (await isAncestor(objects, last.commit, tip)) return true;
  }
  return false;
}

/** A copy of this store, where commits of its key turn up that this very process, which was there all the time, did not make. */
async function suspectCopy({ mesh, remote, hasSeenOwn }: RoundContext, tip: Oid): Promise<void> {
  if (hasSeenOwn === true) await hold(mesh, { kind: 'store_copied', remote: remote.name, tip });
}

async function hold(mesh: MeshContext, found: Omit<Hold, 'since'>): Promise<void> {
  const { local } = mesh.store;
  const before = await local.hold();
  if (before?.kind === found.kind && before.remote === found.remote && before.tip === found.tip) return;
  await local.putHold({ ...found, since: toIso(mesh.clock.now()) });
}

/** The machine whose tip that is, if it is in order by itself; null where it is not. */
async function soundMachine({ mesh }: RoundContext, tip: Oid): Promise<MachineRecord | null> {
  const { config, objects } = mesh.store;
  try {
    const machine = await readMachine(objects, await objects.commit(tip));
    if (machine.handle !== config.handle || machine.mesh !== config.mesh.id) return null;
    return (await verifyTip(objects, tip, machine)) === null ? machine : null;
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/**
 * Another store under this handle: the first one there keeps it. Where this store's branch was there before, somebody
 * replaced it, and this machine is still the one that the others know.
 */
async function anotherStore(ctx: RoundContext, to: Oid, found: MachineRecord, why: string): Promise<Rejected> {
  const { mesh, remote } = ctx;
  const view = await mesh.store.journal.view();
  const wasThere = view.pushed.findLast((line) => line.remote === remote.name)?.seq ?? 0;
  if (wasThere > 0 || view.receipts.length > 0) return foreign(ctx, to, why);
  await keep(ctx, to);
  await hold(mesh, { kind: 'handle_conflict', remote: remote.name, tip: to });
  return {
    handle: mesh.store.config.handle,
    tip: to,
    kind: 'handle_conflict',
    message: `another store (${found.store}) has the handle ${found.handle} there, with a key of its own; this one stops writing, and nothing was overwritten`,
  };
}

async function foreign(ctx: RoundContext, to: Oid, why: string): Promise<Rejected> {
  await keep(ctx, to);
  return {
    handle: ctx.mesh.store.config.handle,
    tip: to,
    kind: 'own_branch_foreign',
    message: `this machine's own branch there holds commits that are not its own (${why}); nothing was overwritten and nothing is pushed there`,
  };
}

const keep = ({ mesh }: RoundContext, tip: Oid): Promise<void> =>
  moveRef(mesh.store, quarantineRef(mesh.store.config.handle, tip), tip);
