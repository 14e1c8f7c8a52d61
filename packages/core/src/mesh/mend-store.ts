import type { AgentKey, Handle, Oid, RefName } from '../domain/ids.js';
import { keysOf } from '../domain/key-chain.js';
import { branchRef, charterRef, handleOfRef } from '../domain/layout.js';
import { MeshError } from '../errors.js';
import type { JournalView } from '../store/ports.js';
import type { Store } from '../store/store.js';
import { isAncestor, seqOf } from './ancestry.js';
import { Branches } from './branches.js';
import { newestOwnCommit } from './own-tip.js';
import { readFounding } from './read-founding.js';
import { restoreSession } from './restore-session.js';

/** What a look at a store shows to be in need of mending. */
interface Findings {
  packs: readonly string[];
  journal: boolean;
  own: boolean;
  refs: readonly RefName[];
  /** Other refs than the own one that name an object which is not here. */
  dangling: readonly { ref: RefName; oid: Oid }[];
  packedRefs: boolean;
  /** An object was found damaged: there may be more. */
  search: boolean;
  /** Machines whose branch was accepted here and is gone. */
  gone: readonly Handle[];
  pins: readonly (readonly [Handle, string])[];
  /** Machines whose accepted branch states a later key than the one pinned for them, with all of its keys. */
  followed: readonly (readonly [Handle, readonly string[]])[];
  /** A rotation of the own key was begun and not finished. */
  key: boolean;
  sessions: readonly AgentKey[];
}

/**
 * Heals what a power cut or a bad disk did to a store, as far as the store itself tells how: packs, the own ref, other
 * machines' refs, the journal, the pinned keys. What only a remote has comes with the next exchange. To be called when a
 * store is opened: cheap, and without the lock, while nothing is wrong. What cannot be healed is left for whoever meets
 * it, who says what it is.
 */
export async function mendStore(store: Store): Promise<void> {
  try {
    if (isSound(await look(store))) return;
    await store.withLock(async () => {
      const found = await look(store);
      const packs = await store.mendObjects(found.packs);
      report(store, packs > 0, `${packs} damaged packs or objects were put aside (mesh/damaged)`);
      report(store, await store.refs.mendPacked(), 'lines of packed-refs that were none');
      await mendRefs(store, await look(store));
      if (found.pins.length > 0) {
        await store.local.pinAll(found.pins);
        report(store, true, `the keys of ${found.pins.map(([handle]) => handle).join(', ')} were pinned again`);
      }
      await store.local.followKeys(found.followed);
      if (found.key) await store.key.settle((await new Branches(store).get(store.config.handle))?.machine?.key ?? null);
      for (const agent of found.sessions) {
        report(store, await restoreSession(store, agent), `the session of ${agent} is back`);
      }
      if (found.journal) {
        const lines = await store.journal.dropDamaged();
        report(store, lines > 0, `${lines} damaged lines of the journal: it is made again from the branches`);
      }
    });
  } catch (error) {
    // A disk that takes nothing, another holder, a file that cannot be read: the command itself meets it, or works.
    if (!(error instanceof MeshError)) throw error;
    store.logger.debug(`the store was not looked over: ${error.message}`);
  }
}

function report(store: Store, isSo: boolean, what: string): void {
  if (isSo) store.logger.warn(`the store was damaged and is mended: ${what}`);
}

const isSound = (found: Findings): boolean =>
  Object.values(found).every(
    (value: boolean | readonly unknown[]) => value === false || (value !== true && value.length === 0),
  );

async function look(store: Store): Promise<Findings> {
  const { config, journal, local, refs } = store;
  const packs = await store.suspectPacks();
  const unreadable = [...(await refs.unreadable(config.ref_prefix)), ...(await refs.unreadable('refs/remotes/'))];
  const pinned = await local.pins();
  const view = await journalOrNull(store);
  const damage = view === null ? [] : await journal.damage();
  // All of them are read, not only those without a pin: damage in a tip is found here, and `search` tells of it below.
  const accepted = new Branches(store);
  const branches = await accepted.allAccepted();
  const unpinned = branches.filter(({ handle }) => handle !== config.handle && !pinned.has(handle));
  // A key that machines know differently is not pinned: nothing is wrong with the file then.
  const disputed: ReadonlyMap<Handle, unknown> = unpinned.length === 0 ? new Map() : await accepted.conflicts();
  const gone: Handle[] = [];
  for (const handle of pinned.keys()) {
    const ref = branchRef(config.ref_prefix, handle);
    if (view?.cursor(handle) === undefined || unreadable.includes(ref)) continue;
    if ((await refs.read(ref)) === null) gone.push(handle);
  }
  return {
    packs,
    journal: damage.some(({ corrupt }) => corrupt === true),
    dangling: await danglingRefs(store),
    packedRefs: await refs.isPackedDamaged(),
    search: await store.objects.lost.isToBeSearched(),
    own: await isOwnLost(store, unreadable, view),
    sessions: await local.damagedSessions(),
    refs: unreadable,
    gone,
    // What was accepted was checked then: its machine.yaml states the key.
    pins: unpinned.flatMap(({ handle, machine }) =>
      machine === null || disputed.has(handle) ? [] : [[handle, machine.key] as const],
    ),
    followed: branches.flatMap(({ handle, machine }) => {
      const chain = machine === null ? [] : keysOf(machine);
      const at = chain.indexOf(pinned.get(handle) ?? '');
      return at >= 0 && at < chain.length - 1 ? [[handle, chain] as const] : [];
    }),
    key: await store.key.isStaged(),
  };
}

async function danglingRefs({ branch, config, objects, refs }: Store): Promise<{ ref: RefName; oid: Oid }[]> {
  const found: { ref: RefName; oid: Oid }[] = [];
  for (const entry of [...(await refs.list(config.ref_prefix)), ...(await refs.list('refs/remotes/'))]) {
    if (entry.ref !== branch && !(await objects.has(entry.oid))) found.push(entry);
  }
  return found;
}

async function journalOrNull({ journal }: Store): Promise<JournalView | null> {
  try {
    return await journal.view();
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/** The own ref is gone, or older than what the journal has of the branch. */
async function isOwnLost(store: Store, unreadable: readonly RefName[], view: JournalView | null): Promise<boolean> {
  if (unreadable.includes(store.branch)) return true;
  const tip = await store.refs.read(store.branch);
  return tip === null || !(await store.objects.has(tip)) || (await laterInJournal(store, tip, view)) !== null;
}

async function laterInJournal({ config, objects }: Store, tip: Oid, view: JournalView | null): Promise<Oid | null> {
  const cursor = view?.cursor(config.handle);
  if (cursor === undefined || cursor.commit === tip || !(await objects.has(tip))) return null;
  if ((seqOf(await objects.commit(tip)) ?? 0) >= cursor.seq || !(await objects.has(cursor.commit))) return null;
  return (await isAncestor(objects, tip, cursor.commit)) ? cursor.commit : null;
}

async function mendRefs(store: Store, found: Findings): Promise<void> {
  const { config, refs } = store;
  const view = await journalOrNull(store);
  if (found.own) await mendOwn(store, found.refs.includes(store.branch), view);
  const known = async (ref: RefName): Promise<Oid | null> => {
    if (ref === charterRef(config.ref_prefix)) return knownCharter(store);
    const handle = handleOfRef(config.ref_prefix, ref);
    return handle === null ? null : lastAccepted(store, handle, view);
  };
  const tell = (ref: RefName, next: Oid | null): void => {
    report(store, true, `${ref} ${next === null ? 'is fetched again' : `is back at ${next.slice(0, 10)}`}`);
  };
  for (const ref of found.refs) {
    if (ref === store.branch) continue;
    const next = await known(ref);
    await refs.replaceUnreadable(ref, next);
    tell(ref, next);
  }
  for (const { ref, oid } of found.dangling) {
    const next = await known(ref);
    await refs.update(ref, { expected: oid, next });
    // The id may have been damaged, or else the object: that it was had must not keep a remote from sending it.
    if (next === null) await store.objects.lost.note([]);
    tell(ref, next);
  }
  for (const handle of found.gone) {
    const next = await lastAccepted(store, handle, view);
    if (next === null) continue;
    await refs.update(branchRef(config.ref_prefix, handle), { expected: null, next });
    report(store, true, `the branch of ${handle} was gone and is back at ${next.slice(0, 10)}`);
  }
}

async function mendOwn(store: Store, isUnreadable: boolean, view: JournalView | null): Promise<void> {
  const { branch, refs } = store;
  const tip = isUnreadable ? null : await refs.read(branch);
  const isHere = tip !== null && (await store.objects.has(tip));
  const next = isHere ? await laterInJournal(store, tip, view) : await newestOwnCommit(store);
  // A commit that the journal has and the store has lost may still be on a remote: nothing older takes its place.
  if (tip !== null && !isHere && !(await reachesJournal(store, next, view))) return;
  // With nothing here, a remote's is taken back by the next exchange: the file must not be in its way.
  if (isUnreadable) await refs.replaceUnreadable(branch, next);
  else if (next !== null) await refs.update(branch, { expected: tip, next });
  report(store, next !== null, `its own branch is back at ${next?.slice(0, 10) ?? ''}`);
}

async function reachesJournal(
  { config, objects }: Store,
  next: Oid | null,
  view: JournalView | null,
): Promise<boolean> {
  const cursor = view?.cursor(config.handle);
  return next !== null && cursor !== undefined && (seqOf(await objects.commit(next)) ?? 0) >= cursor.seq;
}

/** As far as the journal has the branch: that was accepted, and its commit tells what follows. */
async function lastAccepted({ objects }: Store, handle: Handle, view: JournalView | null): Promise<Oid | null> {
  const cursor = view?.cursor(handle);
  return cursor !== undefined && (await objects.has(cursor.commit)) ? cursor.commit : null;
}

/** A copy that a remote's ref still names: the founding alone, and never what somebody put on top or in its place. */
async function knownCharter({ config, objects, refs }: Store): Promise<Oid | null> {
  for (const { ref, oid } of await refs.list('refs/remotes/')) {
    if (!ref.endsWith('/_charter') || !(await objects.has(oid))) continue;
    try {
      const { mesh, policy } = await readFounding(objects, oid, ref);
      if (mesh === config.mesh.id && policy === config.policy) return oid;
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return null;
}
