import { MeshError, charterRef, isAncestor } from '@git-mesh/core';
import type { MembershipResult, Oid, Store } from '@git-mesh/core';
import { announce, readOnlyWarning } from './announce.js';
import type { JoinOptions } from './contract.js';
import { firstRound, originState } from './first-round.js';
import { keysOfStore } from './given-key.js';
import type { GivenKey } from './given-key.js';
import { discover, membershipResult, meshPrefix, noMeshThere } from './membership.js';
import type { SetupRemote } from './remotes.js';
import { hasRemote, meshExists, ownCharter, remotesOf, standing } from './standing-store.js';

/**
 * `join` where a store stands: finishes a join that was interrupted before the remote and the store knew of each other.
 *
 * @throws MeshError `mesh_exists` where nothing is left to finish or the store is something else, `handle_taken` where
 * another machine took the handle before this one could.
 */
export async function rejoin(
  options: JoinOptions,
  store: Store,
  remote: SetupRemote,
  { key }: GivenKey,
): Promise<MembershipResult> {
  options.onProgress?.(`looking at ${remote.shown}`);
  const { refs } = await discover(remote.transport, remote.shown);
  if (meshPrefix({ refs }) === null) throw noMeshThere(remote.shown, { refs });
  if (refs.get(charterRef(store.config.ref_prefix)) !== (await ownCharter(store))) {
    throw meshExists(
      `${standing(store)}, and ${remote.shown} is another mesh: give another --dir to join that one too.`,
      store,
    );
  }
  refuseOther(options, store, remote);
  if (key !== undefined && !(await keysOfStore(store)).includes(key.publicLine)) {
    throw meshExists(
      `${standing(store)}, with another key than that of --key: give another --dir to join with it.`,
      store,
    );
  }
  const there = refs.get(store.branch) ?? null;
  const before = await originState(options);
  const complete = (before?.last_ok_at ?? null) !== null;
  if (complete && there !== null && (await isOwn(store, there))) {
    throw meshExists(`${standing(store)}. It has joined ${remote.shown} already, and nothing is left to do.`, store);
  }
  const announced = there === null ? await announce(store, remote) : { kind: 'done' as const };
  if (announced.kind === 'taken') throw takenMeanwhile(store);
  const state = await firstRound(options, standing(store));
  if (state?.rejected.some(({ handle }) => handle === store.config.handle) === true) throw takenMeanwhile(store);
  if (announced.kind === 'done') return membershipResult(store, true);
  return membershipResult(store, false, readOnlyWarning(store, announced));
}

function refuseOther(options: JoinOptions, store: Store, remote: SetupRemote): void {
  if (options.machine !== undefined && options.machine !== store.config.handle) {
    throw meshExists(
      `${standing(store)}, and keeps that handle: give another --dir to join as ${options.machine} too.`,
      store,
    );
  }
  if (hasRemote(store, remote.url)) return;
  throw meshExists(
    `${standing(store)}, with ${remotesOf(store)}. ${remote.shown} has the same mesh: \`git mesh remote add NAME ${remote.shown}\` adds it.`,
    store,
  );
}

async function isOwn(store: Store, there: Oid): Promise<boolean> {
  const own = await store.refs.read(store.branch);
  if (own === null || !(await store.objects.has(there))) return false;
  return isAncestor(store.objects, there, own);
}

function takenMeanwhile(store: Store): MeshError {
  const { handle } = store.config;
  return new MeshError(
    'handle_taken',
    `The store ${store.dir} is that of a machine ${handle}, but the branch of ${handle} on the remote is another store's: ` +
      'most likely another machine took the handle before this one could write there. Join under another name with another ' +
      '--dir (git mesh join URL --machine NAME --dir DIR); what this store holds stays readable.',
    { data: { handle, store: store.dir } },
  );
}
