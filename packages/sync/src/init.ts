import { rm } from 'node:fs/promises';
import { MeshError, Store, charterRef, defaultRefPrefix, foundCharter, parseRefPrefix } from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import type { InitOptions } from './contract.js';
import { firstRound } from './first-round.js';
import { joinMesh } from './join.js';
import {
  beginBranch,
  chooseHandle,
  createBranches,
  discover,
  membershipResult,
  meshPrefix,
  newConfig,
  newUlid,
  storeDeps,
} from './membership.js';
import { setupTransport } from './remotes.js';
import type { SetupRemote } from './remotes.js';
import { clock } from './system.js';

/** Founds a mesh, on a remote or on this machine alone. Two at once on one empty remote: the second becomes a join. */
export async function initMesh(options: InitOptions): Promise<MembershipResult> {
  const remote = options.remote === undefined ? null : await setupTransport(options.remote, options.env);
  try {
    return await found(options, remote);
  } finally {
    await remote?.dispose();
  }
}

async function found(options: InitOptions, remote: SetupRemote | null): Promise<MembershipResult> {
  const prefix = options.refPrefix === undefined ? defaultRefPrefix : parseRefPrefix(options.refPrefix);
  const handle = chooseHandle({ machine: options.machine, hostname: options.hostname, taken: new Set() });
  if (remote !== null) {
    options.onProgress?.(`looking at ${remote.shown}`);
    if (meshPrefix(await discover(remote.transport)) !== null) throw meshExists(remote.shown);
  }
  const config = newConfig({
    handle,
    label: options.label,
    policy: options.policy ?? 'open',
    prefix,
    mesh: { id: newUlid(), name: remote?.name ?? handle },
    remote: remote?.url ?? null,
  });
  const building = await Store.create(options.dir, { config }, storeDeps(options));
  let store: Store;
  try {
    await foundCharter(building.store, clock.now());
    await beginBranch(building.store);
    // Do not reorder: a mesh on the remote without its founder's store would be nobody's.
    store = await building.publish();
  } catch (error) {
    await building.discard();
    throw error;
  }
  if (remote === null) return membershipResult(store, true);
  options.onProgress?.('pushing the charter');
  const outcome = await pushMesh(store, remote);
  if (outcome === 'done' || outcome === 'unknown') {
    await firstRound(options);
    return membershipResult(store, outcome === 'done');
  }
  // The store was made a moment ago, and nothing in it went anywhere.
  await rm(options.dir, { recursive: true, force: true });
  if (outcome === 'lost race') return joinMesh({ ...options, url: remote.url });
  throw outcome;
}

/** `unknown`: the remote broke off and cannot be asked what became of it; rounds push what is missing there. */
type Outcome = 'done' | 'lost race' | 'unknown' | MeshError;

async function pushMesh(store: Store, remote: SetupRemote): Promise<Outcome> {
  const { config } = store;
  const charter = charterRef(config.ref_prefix);
  let failure: MeshError;
  try {
    const there = await discover(remote.transport);
    if (meshPrefix(there) !== null) return 'lost race';
    const branches = [
      { ref: charter, source: charter },
      { ref: store.branch, source: store.branch },
      // A plain `git clone` of a repository that is a mesh and nothing else shows what it is.
      ...(there.refs.size === 0 ? [{ ref: 'refs/heads/main', source: charter }] : []),
    ];
    const results = await createBranches(store, remote.transport, branches);
    const refused = results.find(({ ok }) => !ok);
    if (refused === undefined) return 'done';
    failure = new MeshError(
      'push_refused',
      `${remote.shown} refused ${refused.ref}: ${refused.reason ?? 'no reason given'}. Nothing was made here: ` +
        'founding a mesh needs the right to create branches there.',
    );
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    failure = error;
  }
  return whatBecame(store, remote, failure);
}

/** What the remote has, and not what it said, tells whether this mesh, another or none was founded. */
async function whatBecame(store: Store, remote: SetupRemote, failure: MeshError): Promise<Outcome> {
  try {
    const there = await discover(remote.transport);
    if (meshPrefix(there) === null) return failure;
    const charter = charterRef(store.config.ref_prefix);
    return there.refs.get(charter) === (await store.refs.read(charter)) ? 'done' : 'lost race';
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return 'unknown';
  }
}

function meshExists(shown: string): MeshError {
  return new MeshError(
    'mesh_exists',
    `${shown} already is a mesh, so nothing was made: join it with \`git mesh join ${shown}\`.`,
  );
}
