import { MeshError, Store, charterRef, readFounding, remoteRef } from '@git-mesh/core';
import type { MembershipResult, Oid, RefName } from '@git-mesh/core';
import { charterWarning } from '../charter-warning.js';
import type { JoinOptions } from '../contract.js';
import { firstRound } from '../first-round.js';
import { givenKey, withWarning } from '../given-key.js';
import type { GivenKey } from '../given-key.js';
import { beginBranch, configToJoin, membershipResult, meshPrefix, storeDeps } from '../membership.js';
import { RemoteStates } from '../remote-states.js';
import { setupContext } from '../setup-context.js';
import { branchNames } from './branch-names.js';
import { bundleBytes } from './bundle-file.js';
import { BundleReader } from './bundle-reader.js';
import { bundleRemote } from './bundle-transport.js';
import { about, acceptBundle, refsOfMesh, takeInPack } from './take-in.js';

/**
 * Joins the mesh in a bundle that is complete in itself. The machine has no remote: the others hear of it by a bundle
 * that it exports, so it counts as not writable.
 *
 * @throws MeshError `not_found` (no mesh in it), `bundle_incomplete`, `handle_taken`, `mesh_exists` (dir is a store
 * already), and what reading it throws.
 */
export async function joinFromBundle(options: JoinOptions, file: string): Promise<MembershipResult> {
  options.onProgress?.(`reading ${file}`);
  const given = await givenKey(options.keyFile);
  let store: Store;
  try {
    const reader = await BundleReader.open(bundleBytes(file));
    try {
      store = await found(options, reader, given);
    } finally {
      await reader.close();
    }
  } catch (error) {
    throw about(file, error);
  }
  await firstRound(options);
  return withWarning(membershipResult(store, false, await charterWarning(store)), given);
}

async function found(options: JoinOptions, reader: BundleReader, { key }: GivenKey): Promise<Store> {
  const { prerequisites } = reader.header;
  const refs = branchNames(reader.header.refs);
  const there = { refs, capabilities: new Set<string>(), head: null };
  const prefix = meshPrefix(there);
  const charter = prefix === null ? undefined : refs.get(charterRef(prefix));
  if (prefix === null || charter === undefined) {
    throw new MeshError(
      'not_found',
      'there is no mesh in it (no branch _charter): expected one that git mesh export made',
    );
  }
  if (prerequisites.length > 0) {
    throw new MeshError(
      'bundle_incomplete',
      'it holds only what is new since an earlier one, and joining needs the whole mesh: ask for git mesh export FILE, without --since-last',
    );
  }
  const config = configToJoin(options, { there, prefix, remote: null });
  const building = await Store.create(
    options.dir,
    { config, ...(key === undefined ? {} : { key }) },
    storeDeps(options),
  );
  try {
    await takeIn(building.store, { reader, refs: refsOfMesh(prefix, refs), charter }, options);
    await beginBranch(building.store);
    return await building.publish();
  } catch (error) {
    await building.discard();
    throw error;
  }
}

async function takeIn(
  store: Store,
  { reader, refs, charter }: { reader: BundleReader; refs: ReadonlyMap<RefName, Oid>; charter: Oid },
  options: JoinOptions,
): Promise<void> {
  const { ref_prefix: prefix } = store.config;
  const { here, absent } = await takeInPack(store, reader, refs, options.onProgress);
  const { mesh, name, policy } = await readFounding(store.objects, charter, charterRef(prefix));
  await store.saveConfig({ ...store.config, mesh: { id: mesh, name }, policy });
  await store.refs.update(charterRef(prefix), { expected: null, next: charter });
  await store.refs.update(remoteRef(bundleRemote, prefix, '_charter'), { expected: null, next: charter });
  options.onProgress?.(`checking ${here.size} branches`);
  const rejected = await acceptBundle(setupContext(store), here, []);
  const states = new RemoteStates(store.local);
  states.set(bundleRemote, {
    last_ok_at: null,
    next_try_at: null,
    failures: 0,
    error: null,
    rejected: [...rejected, ...absent],
    writable: false,
  });
  await states.flush([bundleRemote]);
}
