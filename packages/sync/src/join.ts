import { rm } from 'node:fs/promises';
import { MeshError, Store, charterRef, readCharter, remoteRef } from '@git-mesh/core';
import type { MembershipResult, Oid } from '@git-mesh/core';
import { bundlePath } from './bundle/bundle-file.js';
import { joinFromBundle } from './bundle/join.js';
import type { JoinOptions } from './contract.js';
import { deadlineSignal } from './deadline.js';
import { firstRound } from './first-round.js';
import {
  beginBranch,
  chooseHandle,
  createBranches,
  discover,
  handleTaken,
  handlesIn,
  membershipResult,
  meshPrefix,
  newConfig,
  newUlid,
  setupLimitMs,
  storeDeps,
} from './membership.js';
import { fetchLimits } from './remote-context.js';
import { fetchFrom } from './remote-fetch.js';
import { setupTransport } from './remotes.js';
import type { SetupRemote } from './remotes.js';
import { setupContext } from './setup-context.js';
import { fetchPack } from './transport/fetch.js';
import type { Advertisement, Transport } from './transport/port.js';

/** How often a default handle that somebody else took meanwhile is chosen anew. */
const maxAttempts = 5;

/** Joins the mesh of a remote under a handle of its own. Without write access the machine reads only, and says so. */
export async function joinMesh(options: JoinOptions): Promise<MembershipResult> {
  const bundle = await bundlePath(options.url);
  if (bundle !== null) return joinFromBundle(options, bundle);
  const remote = await setupTransport(options.url, options.env);
  try {
    return await join(options, remote);
  } finally {
    await remote.dispose();
  }
}

async function join(options: JoinOptions, remote: SetupRemote): Promise<MembershipResult> {
  for (let attempt = 1; ; attempt++) {
    options.onProgress?.(`looking at ${remote.shown}`);
    const there = await discover(remote.transport);
    const prefix = meshPrefix(there);
    if (prefix === null) throw noMeshThere(remote.shown);
    const handle = chooseHandle({
      machine: options.machine,
      hostname: options.hostname,
      taken: handlesIn(there, prefix),
    });
    const config = newConfig({
      handle,
      label: options.label,
      // The mesh's own id, name and policy are known once the charter is here.
      policy: 'open',
      prefix,
      mesh: { id: newUlid(), name: '' },
      remote: remote.url,
    });
    const building = await Store.create(options.dir, { config }, storeDeps(options));
    let store: Store;
    try {
      await takeIn(building.store, remote.transport, there, options);
      await beginBranch(building.store);
      store = await building.publish();
    } catch (error) {
      await building.discard();
      throw error;
    }
    options.onProgress?.(`announcing ${handle}`);
    const outcome = await announce(store, remote.transport);
    if (outcome === 'taken') {
      // The store was made a moment ago, and nothing in it went anywhere.
      await rm(options.dir, { recursive: true, force: true });
      if (options.machine !== undefined || attempt >= maxAttempts) throw handleTaken(handle);
      continue;
    }
    await firstRound(options);
    return membershipResult(store, outcome === 'done');
  }
}

async function takeIn(store: Store, transport: Transport, there: Advertisement, options: JoinOptions): Promise<void> {
  const { signal, done } = deadlineSignal(setupLimitMs);
  try {
    const tip = there.refs.get(charterRef(store.config.ref_prefix));
    if (tip === undefined) throw noMeshThere(options.url);
    options.onProgress?.('fetching the mesh');
    await fetchCharter(store, transport, tip, signal);
    const remote = { name: 'origin', url: options.url, transport };
    await fetchFrom({ mesh: setupContext(store, options), remote, signal, logger: options.logger }, []);
  } finally {
    done();
  }
}

async function fetchCharter(store: Store, transport: Transport, tip: Oid, signal: AbortSignal): Promise<void> {
  const exchange = await transport.open('git-upload-pack', { signal });
  try {
    const pack = await fetchPack(exchange, { wants: [tip], haves: [], signal, maxBytes: fetchLimits.maxPackBytes });
    await store.objects.installPack(pack, { maxObjectBytes: fetchLimits.maxObjectBytes });
  } finally {
    await exchange.close();
  }
  const charter = await readCharter(store.objects, tip);
  await store.saveConfig({
    ...store.config,
    mesh: { id: charter.mesh, name: charter.name },
    policy: charter.policy,
  });
  await store.refs.update(charterRef(store.config.ref_prefix), { expected: null, next: tip });
  await store.refs.update(remoteRef('origin', store.config.ref_prefix, '_charter'), { expected: null, next: tip });
}

/** Creates the own branch on the remote. */
async function announce(store: Store, transport: Transport): Promise<'done' | 'taken' | 'read-only'> {
  const ref = store.branch;
  try {
    const [result] = await createBranches(store, transport, [{ ref, source: ref }]);
    if (result === undefined || result.ok) return 'done';
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    // Who may not push may read all the same; status keeps saying why nothing gets out.
    return 'read-only';
  }
  return handlesIn(await discover(transport), store.config.ref_prefix).has(store.config.handle) ? 'taken' : 'read-only';
}

function noMeshThere(shown: string): MeshError {
  return new MeshError(
    'not_found',
    `There is no mesh at ${shown} (no branch _charter): found one with \`git mesh init --remote ${shown}\`.`,
  );
}
