import { branchRef, charterRef, cutOf, fromIso, handleOfRef, remoteRef, remoteRefPrefix, toIso } from '@git-mesh/core';
import type { Handle, MeshContext, Oid, RefName, WentBack } from '@git-mesh/core';
import { inGroups } from './accept.js';
import { charterHandle } from './charter-check.js';
import { moveRef } from './move-ref.js';
import { leadsTo } from './readable-commit.js';
import type { RoundContext } from './remote-context.js';

type Refs = ReadonlyMap<RefName, Oid>;
type One = WentBack['branches'][number];

/** What went back and is there again is told of for a day. */
const toldForMs = 86_400_000;
/** A repository that is put back every minute fills no file. */
const maxKept = 10;
const maxBranches = 20;
const refsAtOnce = 16;

/**
 * Where the branches were last seen at a remote. Taken before it is asked: what another process brings there meanwhile is
 * in no answer that began before. Of the own branch, what was pushed there.
 */
export async function lastSeen({ mesh, remote }: RoundContext): Promise<ReadonlyMap<Handle, Oid>> {
  const { config, journal, refs } = mesh.store;
  const prefix = remoteRefPrefix(remote.name, config.ref_prefix);
  const seen = new Map<Handle, Oid>();
  for (const { ref, oid } of await refs.list(prefix)) {
    const handle = handleOfRef(prefix, ref);
    if (handle !== null) seen.set(handle, oid);
    // It is put back like a branch where somebody deletes it; another one in its place is judged by itself.
    else if (ref === charterRef(prefix)) seen.set(charterHandle, oid);
  }
  const pushed = (await journal.view()).pushed.findLast((line) => line.remote === remote.name);
  seen.delete(config.handle);
  // A line with the number 0 says that a remote of this name was made anew.
  if (pushed !== undefined && pushed.seq > 0) seen.set(config.handle, pushed.commit);
  return seen;
}

/**
 * The branches that are there further back than before, or gone. Only what was accepted here counts: a machine that takes
 * foreign commits off its branch does right, and one that is revoked may be deleted. A remote that never had more, and one
 * that cannot be read in a part, went back nowhere.
 */
export async function findWentBack(
  { mesh, logger, remote }: RoundContext,
  {
    before,
    there,
    reset,
    known,
  }: { before: ReadonlyMap<Handle, Oid>; there: Refs; reset: boolean; known: readonly WentBack[] },
): Promise<WentBack | null> {
  const { config } = mesh.store;
  const open = known.filter(({ back_at: back }) => back === undefined).flatMap(({ branches }) => branches);
  const roster = await mesh.branches.roster();
  const found: One[] = [];
  for (const [handle, from] of before) {
    const to = there.get(branchRef(config.ref_prefix, handle)) ?? null;
    if (to === from || cutOf(roster, handle) !== null) continue;
    if (open.some((one) => one.handle === handle && one.to === to && (to !== null || one.from === from))) continue;
    if (await isFurtherBack(mesh, { handle, from, to })) found.push({ handle, from, to });
  }
  if (found.length === 0) return null;
  found.sort((a, b) => Number(b.handle === config.handle) - Number(a.handle === config.handle));
  const names = found.slice(0, maxBranches).map(({ handle }) => handle);
  logger.warn(`remote ${remote.name}: branches went back there, or are gone: ${names.join(', ')} (${found.length})`);
  return { at: toIso(mesh.clock.now()), reset, count: found.length, branches: found.slice(0, maxBranches) };
}

async function isFurtherBack({ store }: MeshContext, { handle, from, to }: One): Promise<boolean> {
  const { config, objects, refs } = store;
  const accepted = await refs.read(branchRef(config.ref_prefix, handle as Handle));
  if (accepted === null || !(await leadsTo(objects, from, accepted))) return false;
  return to === null || leadsTo(objects, to, from);
}

/** Notes where the branches stand there now, so that each going back is told of once. */
export async function trackSeen(
  { mesh, remote }: RoundContext,
  before: ReadonlyMap<Handle, Oid>,
  there: Refs,
): Promise<void> {
  const { config, refs } = mesh.store;
  const due: { ref: RefName; tip: Oid }[] = [];
  for (const [branch, tip] of there) {
    const handle = handleOfRef(config.ref_prefix, branch);
    if (handle === null || handle === config.handle || before.get(handle) === tip) continue;
    // What is accepted came over another remote, or was brought there by this machine.
    if ((await refs.read(branch)) === tip) due.push({ ref: remoteRef(remote.name, config.ref_prefix, handle), tip });
  }
  await inGroups(due, refsAtOnce, ({ ref, tip }) => moveRef(mesh.store, ref, tip));
  const deleted = [...before].filter(
    ([handle]) => handle !== config.handle && !there.has(branchRef(config.ref_prefix, handle)),
  );
  await inGroups(deleted, refsAtOnce, async ([handle, from]) => {
    // Only of what the accepted branch holds: nothing that was fetched is let go.
    if (!(await isFurtherBack(mesh, { handle, from, to: null }))) return;
    await moveRef(mesh.store, remoteRef(remote.name, config.ref_prefix, handle), null);
  });
}

/** What is still to be told: says when all of it was there again, and lets go of what is long over. */
export async function keptWentBack(mesh: MeshContext, known: readonly WentBack[], there: Refs): Promise<WentBack[]> {
  const now = mesh.clock.now();
  const kept: WentBack[] = [];
  for (const event of known) {
    const back = event.back_at ?? ((await areBack(mesh, event, there)) ? toIso(now) : undefined);
    // A time that is ahead was written by a clock that was put back since.
    if (back !== undefined && Math.abs(now - fromIso(back)) > toldForMs) continue;
    kept.push(back === undefined ? event : { ...event, back_at: back });
  }
  return kept.slice(-maxKept);
}

async function areBack({ store }: MeshContext, { branches }: WentBack, there: Refs): Promise<boolean> {
  for (const { handle, from } of branches) {
    const tip = there.get(branchRef(store.config.ref_prefix, handle as Handle));
    if (tip === undefined || !(await leadsTo(store.objects, from, tip))) return false;
  }
  return true;
}
