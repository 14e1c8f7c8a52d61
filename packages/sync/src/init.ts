import {
  MeshError,
  Store,
  checkMachineTexts,
  defaultRefPrefix,
  foundCharter,
  founderKey,
  parseHandle,
  parseRefPrefix,
  shellWord,
} from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import type { InitOptions } from './contract.js';
import { diskError, firstRound } from './first-round.js';
import { givenKey, keysOfStore, withWarning } from './given-key.js';
import type { GivenKey } from './given-key.js';
import { nothingMade, pushFounding } from './founding-push.js';
import { joinAnew } from './join.js';
import {
  beginBranch,
  chooseHandle,
  discover,
  membershipResult,
  meshPrefix,
  newConfig,
  newUlid,
  storeDeps,
} from './membership.js';
import { admitRemote } from './remote-admission.js';
import { setupTransport } from './remotes.js';
import type { SetupRemote } from './remotes.js';
import { hasRemote, meshExists, remotesOf, standing, standingStore, unfinished } from './standing-store.js';
import { clock } from './system.js';

/**
 * Founds a mesh, on a remote or on this machine alone, or finishes a founding that was interrupted. Two at once on one
 * empty remote: the second becomes a join, where the mesh is what it asked for.
 */
export async function initMesh(options: InitOptions): Promise<MembershipResult> {
  const { dir, env, allowPublic = false } = options;
  // What cannot be used is said before anything is asked or made.
  if (options.machine !== undefined) parseHandle(options.machine, { argument: 'machine' });
  checkMachineTexts({ machine: options.machine, label: options.label });
  if (options.refPrefix !== undefined) parseRefPrefix(options.refPrefix);
  const given = await givenKey(options.keyFile);
  const store = await standingStore(options);
  if (options.remote === undefined) {
    if (store !== null) throw meshExists(`${standing(store)}, with ${remotesOf(store)}: see git mesh status.`, store);
    return withWarning(membershipResult(await make(options, { remote: null, given }), true), given);
  }
  await admitRemote({ url: options.remote, dir, env, allowPublic });
  const remote = await setupTransport(options.remote, env);
  try {
    const done = store === null ? await found(options, remote, given) : await finish(options, store, remote, given);
    return withWarning(done, given);
  } finally {
    await remote.dispose();
  }
}

async function found(options: InitOptions, remote: SetupRemote, given: GivenKey): Promise<MembershipResult> {
  options.onProgress?.(`looking at ${remote.shown}`);
  if (meshPrefix(await discover(remote.transport, remote.shown)) !== null) {
    throw new MeshError(
      'mesh_exists',
      `${remote.shown} already is a mesh, so nothing was made: join it with \`git mesh join ${shellWord(remote.shown)}\`.`,
    );
  }
  const store = await make(options, { remote, given });
  options.onProgress?.('pushing the charter');
  const founded = await pushFounding(store, remote);
  switch (founded.kind) {
    case 'done':
      return completed(options, store, remote);
    case 'unclear':
      throw unfinished(
        founded.error,
        `${madeHere(store)}, and what reached ${remote.shown} of it is not whole or not known`,
      );
    case 'refused':
      await store.retract();
      throw nothingMade(founded.error);
    case 'lost race':
      // The store was made a moment ago, and nothing in it went anywhere.
      await store.retract();
      return joinInstead(options, remote, store);
  }
}

/** Another machine founded the mesh a moment earlier. */
async function joinInstead(options: InitOptions, remote: SetupRemote, { config }: Store): Promise<MembershipResult> {
  const joined = await joinAnew(options, remote, {
    wanted: { policy: config.policy, prefix: config.ref_prefix },
  });
  const instead = `Another machine founded the mesh in ${remote.shown} at the same moment: this one joined it.`;
  return { ...joined, warning: joined.warning === undefined ? instead : `${instead} ${joined.warning}` };
}

/** The store of a new mesh, in its place. */
async function make(
  options: InitOptions,
  { remote, given: { key } }: { remote: SetupRemote | null; given: GivenKey },
): Promise<Store> {
  const handle = chooseHandle({ machine: options.machine, hostname: options.hostname, taken: new Set() });
  const config = newConfig({
    handle,
    label: options.label,
    policy: options.policy ?? 'open',
    prefix: options.refPrefix === undefined ? defaultRefPrefix : parseRefPrefix(options.refPrefix),
    mesh: { id: newUlid(), name: remote?.name ?? handle },
    remote: remote?.url ?? null,
  });
  const building = await Store.create(
    options.dir,
    { config, ...(key === undefined ? {} : { key }) },
    storeDeps(options),
  );
  try {
    await foundCharter(building.store, clock.now());
    await beginBranch(building.store);
    // Do not reorder: a mesh on the remote without its founder's store would be nobody's.
    return await building.publish();
  } catch (error) {
    await building.discard();
    throw diskError(error);
  }
}

/** `init` where a store stands: it may be the one that the same command made before it was interrupted. */
async function finish(
  options: InitOptions,
  store: Store,
  remote: SetupRemote,
  given: GivenKey,
): Promise<MembershipResult> {
  const other = await differences(options, store, { remote, given });
  if (other.length > 0) {
    throw meshExists(`${standing(store)}, ${other.join(', ')}. Give another --dir for another mesh.`, store);
  }
  options.onProgress?.(`looking at ${remote.shown}`);
  const founded = await pushFounding(store, remote);
  switch (founded.kind) {
    case 'done':
      return completed(options, store, remote);
    case 'refused':
    case 'unclear':
      throw unfinished(founded.error, madeHere(store));
    case 'lost race':
      throw meshExists(
        `${standing(store)}, a mesh that is not on ${remote.shown}, where another mesh is: remove the folder, or give another ` +
          `--dir, and join that mesh with \`git mesh join ${shellWord(remote.shown)}\`.`,
        store,
      );
  }
}

async function differences(
  options: InitOptions,
  store: Store,
  { remote, given: { key } }: { remote: SetupRemote; given: GivenKey },
): Promise<string[]> {
  const { config } = store;
  const keys = await keysOfStore(store);
  const founder = keys.includes((await founderKey(store)) ?? '');
  const asked = (option: string | undefined, has: string, what: string): string[] =>
    option === undefined || option === has ? [] : [`${what} ${has} and not ${option}`];
  return [
    ...(founder ? [] : ['which another machine founded']),
    ...(hasRemote(store, remote.url)
      ? []
      : [`with ${remotesOf(store)} and not ${remote.shown} (\`git mesh remote add NAME URL\` adds one)`]),
    ...(key === undefined || keys.includes(key.publicLine) ? [] : ['with another key than that of --key']),
    ...asked(options.machine, config.handle, 'called'),
    ...asked(options.policy, config.policy, 'with the policy'),
    ...asked(options.refPrefix, config.ref_prefix, 'with branches under'),
    ...asked(options.label, config.label ?? '', 'with the label'),
  ];
}

async function completed(options: InitOptions, store: Store, remote: SetupRemote): Promise<MembershipResult> {
  await firstRound(options, `${madeHere(store)} and is in ${remote.shown}`);
  return membershipResult(store, true);
}

const madeHere = ({ config, dir }: Store): string =>
  `the mesh ${config.mesh.name} was founded as ${config.handle}, with its store at ${dir}`;
