import {
  MeshError,
  branchRef,
  charterRef,
  diffTree,
  handleOfRef,
  isMeshFolder,
  parseCommitMessage,
  readCharter,
  remoteRef,
} from '@git-mesh/core';
import type { Handle, MeshContext, Oid, RefName, RemoteState } from '@git-mesh/core';
import { fetchLimits } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import { fetchPack } from './transport/fetch.js';
import type { Advertisement, Exchange } from './transport/port.js';
import { verifyAdvance } from './verify.js';
import type { Verdict } from './verify.js';

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
}

/** A branch with more entries than this is not taken in. */
const maxTreeEntries = 500_000;

/**
 * Brings in what a remote has: fetches what is new, leaves it under refs/remotes, and moves the accepted tips of the
 * branches that pass the checks. One branch that does not pass holds up no other.
 *
 * @throws MeshError for what concerns the remote as a whole, `different_mesh` among it.
 */
export async function fetchFrom(ctx: RoundContext, before: readonly Rejected[]): Promise<Fetched> {
  const { mesh, remote, signal } = ctx;
  const { config, objects } = mesh.store;
  const exchange = await remote.transport.open('git-upload-pack', { signal });
  try {
    const { refs } = exchange.advertised;
    const tips = await changedTips(ctx, exchange.advertised, before);
    const missing: Oid[] = [];
    for (const { oid } of tips) if (!(await objects.has(oid))) missing.push(oid);
    if (missing.length > 0) await fetchObjects(ctx, exchange, missing);
    await checkCharter(ctx, exchange.advertised);
    const rejected = new Map((await stillRejected(mesh, before, refs)).map((entry) => [entry.handle, entry]));
    for (const { handle, oid } of tips) {
      rejected.delete(handle);
      const problem = handle === config.handle ? await takeBackOwn(mesh, oid) : await accept(ctx, handle, oid);
      if (problem !== null) rejected.set(handle, problem);
    }
    return {
      ownThere: refs.get(mesh.store.branch) ?? null,
      hasCharter: refs.has(charterRef(config.ref_prefix)),
      empty: refs.size === 0,
      there: refs,
      rejected: [...rejected.values()],
    };
  } finally {
    await exchange.close();
  }
}

/** Branches that must be looked at: their tip there is neither accepted, nor refused before, nor known to be behind. */
async function changedTips(
  ctx: RoundContext,
  { refs }: Advertisement,
  before: readonly Rejected[],
): Promise<{ handle: Handle; oid: Oid }[]> {
  const { config, refs: local } = ctx.mesh.store;
  const changed: { handle: Handle; oid: Oid }[] = [];
  for (const [ref, oid] of refs) {
    const handle = handleOfRef(config.ref_prefix, ref);
    if (handle === null || (await local.read(branchRef(config.ref_prefix, handle))) === oid) continue;
    const seen = (await local.read(remoteRef(ctx.remote.name, config.ref_prefix, handle))) === oid;
    // That it was fetched is no proof that it was decided on: a crash, or a held store, may have come between.
    if (seen && (before.some((known) => isOf(known, handle, oid)) || (await isBehind(ctx.mesh, handle, oid)))) continue;
    changed.push({ handle, oid });
  }
  const charter = refs.get(charterRef(config.ref_prefix));
  const known = await local.read(remoteRef(ctx.remote.name, config.ref_prefix, '_charter'));
  // The charter travels with the branches, but is no machine's: its check comes before theirs.
  return charter === undefined || charter === known
    ? changed
    : [{ handle: '_charter' as Handle, oid: charter }, ...changed];
}

const isOf = (known: Rejected, handle: Handle, oid: Oid): boolean => known.handle === handle && known.tip === oid;

/** By its counter alone: what was looked at once need not be walked again every round. */
async function isBehind(mesh: MeshContext, handle: Handle, oid: Oid): Promise<boolean> {
  if (handle === mesh.branches.own) return false;
  const accepted = await mesh.branches.get(handle);
  if (accepted === null || !(await mesh.store.objects.has(oid))) return false;
  const seq = parseCommitMessage((await mesh.store.objects.commit(oid)).message)?.seq;
  return seq !== undefined && seq < accepted.seq;
}

async function fetchObjects(ctx: RoundContext, exchange: Exchange, wants: readonly Oid[]): Promise<void> {
  const { objects, refs } = ctx.mesh.store;
  const haves = [...new Set((await refs.list('refs/')).map(({ oid }) => oid))];
  const pack = await fetchPack(exchange, { wants, haves, signal: ctx.signal, maxBytes: fetchLimits.maxPackBytes });
  await objects.installPack(pack, { maxObjectBytes: fetchLimits.maxObjectBytes });
}

async function checkCharter(ctx: RoundContext, { refs }: Advertisement): Promise<void> {
  const { config, objects, refs: local } = ctx.mesh.store;
  const there = refs.get(charterRef(config.ref_prefix));
  const tracking = remoteRef(ctx.remote.name, config.ref_prefix, '_charter');
  const known = await local.read(tracking);
  if (there === undefined || there === known) return;
  const charter = await readCharter(objects, there);
  if (charter.mesh !== config.mesh.id) {
    throw new MeshError(
      'different_mesh',
      `The repository at remote ${ctx.remote.name} now holds another mesh ("${charter.name}"): nothing was fetched or pushed. ` +
        'Put the right repository back, or remove this remote.',
    );
  }
  await moveRef(ctx.mesh, tracking, there);
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

/** Null where the branch was accepted or is merely behind. */
async function accept(ctx: RoundContext, handle: Handle, to: Oid): Promise<Rejected | null> {
  const { mesh, remote } = ctx;
  const { config, objects, refs, local } = mesh.store;
  if (handle === ('_charter' as Handle)) return null;
  await moveRef(mesh, remoteRef(remote.name, config.ref_prefix, handle), to);
  const ref = branchRef(config.ref_prefix, handle);
  const accepted = await refs.read(ref);
  if (accepted === to) return null;
  const pinned = (await local.pins()).get(handle) ?? null;
  let verdict = await verifyAdvance({ objects, handle, mesh: config.mesh.id, accepted, to, pinned });
  if (verdict.kind === 'advance') verdict = (await checkConnected(mesh, accepted, to)) ?? verdict;
  if (verdict.kind === 'behind') return null;
  if (verdict.kind === 'reject') return { handle, tip: to, kind: verdict.problem, message: verdict.message };
  const { key } = verdict.machine;
  await mesh.store.withLock(async () => {
    await local.pin(handle, key);
    // Another process may have come first with the same or a later tip: then this one is looked at again next time.
    if ((await refs.read(ref)) === accepted) await refs.update(ref, { expected: accepted, next: to });
  });
  return null;
}

/** All that the new tip shows is here: a server that left objects out must not become our reader's problem. */
async function checkConnected(mesh: MeshContext, accepted: Oid | null, to: Oid): Promise<Verdict | null> {
  const { objects } = mesh.store;
  try {
    const from = accepted === null ? null : (await objects.commit(accepted)).tree;
    const changes = diffTree({
      from,
      to: (await objects.commit(to)).tree,
      readTree: (oid) => objects.tree(oid),
      maxEntries: maxTreeEntries,
      descend: (path) => path === '' || isMeshFolder(path),
    });
    for await (const { path, mode, after } of changes) {
      if (after === null || mode !== '100644' || (await objects.has(after))) continue;
      return { kind: 'reject', problem: 'unreadable', message: `${path} is missing from what was fetched` };
    }
    return null;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { kind: 'reject', problem: 'unreadable', message: `its files cannot be read: ${error.message}` };
  }
}

/**
 * The own branch there holds what is not here. It is taken back only along commits that our own key signed: this store
 * was restored from a backup, or its disk lost its last writes.
 */
async function takeBackOwn(mesh: MeshContext, to: Oid): Promise<Rejected | null> {
  const { branch: ref, config, objects, refs, signer } = mesh.store;
  const accepted = await refs.read(ref);
  if (accepted === to) return null;
  const verdict = await verifyAdvance({
    objects,
    handle: config.handle,
    mesh: config.mesh.id,
    accepted,
    to,
    pinned: signer.publicKey,
  });
  if (verdict.kind === 'behind') return null;
  if (verdict.kind === 'reject') {
    return {
      handle: config.handle,
      tip: to,
      kind: 'own_branch_foreign',
      message: `this machine's own branch there holds commits that are not its own (${verdict.message}); nothing was overwritten and nothing is pushed there`,
    };
  }
  await mesh.store.withLock(async () => {
    if ((await refs.read(ref)) === accepted) await refs.update(ref, { expected: accepted, next: to });
  });
  return null;
}

async function moveRef(mesh: MeshContext, ref: RefName, next: Oid): Promise<void> {
  const { refs } = mesh.store;
  try {
    const expected = await refs.read(ref);
    if (expected !== next) await refs.update(ref, { expected, next });
  } catch (error) {
    // Another process fetched at the same time: its view is as good, and the next round looks again.
    if (!(error instanceof MeshError) || (error.errorName !== 'conflict' && error.errorName !== 'locked')) throw error;
  }
}
