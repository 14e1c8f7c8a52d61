import { MeshError, Store, checkMachineTexts, parseHandle, shellWord } from '@git-mesh/core';
import type { InviteCode, MembershipResult } from '@git-mesh/core';
import { joinedResult } from './admission-notice.js';
import { announce, readOnlyWarning } from './announce.js';
import { bundlePath } from './bundle/bundle-file.js';
import { joinFromBundle } from './bundle/join.js';
import { charterWarning } from './charter-warning.js';
import type { JoinOptions } from './contract.js';
import { diskError, firstRound } from './first-round.js';
import { givenKey, withWarning } from './given-key.js';
import {
  claimOf,
  invitationIn,
  requireInvitedMesh,
  requireInviter,
  requireOpen,
  requireUnused,
  withInvitation,
} from './invited.js';
import { beginBranch, configToJoin, discover, handleTaken, meshPrefix, noMeshThere, storeDeps } from './membership.js';
import { rejoin } from './rejoin.js';
import { admitRemote } from './remote-admission.js';
import { setupTransport } from './remotes.js';
import type { SetupRemote } from './remotes.js';
import { standingStore } from './standing-store.js';
import { takeIn } from './take-in.js';

/** How often a default handle that somebody else took meanwhile is chosen anew. */
const maxAttempts = 5;

/** What the mesh must be where its joining stands in for a founding that came too late. */
export interface Wanted {
  policy: 'open' | 'roster';
  prefix: string;
}

/**
 * Joins the mesh of a remote under a handle of its own, or finishes a join that was interrupted. Without write access the
 * machine reads only, and says so.
 */
export async function joinMesh(options: JoinOptions): Promise<MembershipResult> {
  const invitation = invitationIn(options.url);
  if (invitation !== null) return joinRemote({ ...options, url: invitation.url }, invitation);
  const bundle = await bundlePath(options.url);
  return bundle === null ? joinRemote(options, null) : joinFromBundle(options, bundle);
}

async function joinRemote(options: JoinOptions, invitation: InviteCode | null): Promise<MembershipResult> {
  const { url, dir, env, allowPublic = false } = options;
  if (options.machine !== undefined) parseHandle(options.machine, { argument: 'machine' });
  checkMachineTexts({ machine: options.machine, label: options.label });
  const given = await givenKey(options.keyFile);
  const store = await standingStore(options);
  // An interrupted join that is finished later was begun in time, and tells so itself.
  if (invitation !== null && store === null) requireOpen(invitation);
  await admitRemote({ url, dir, env, allowPublic });
  const remote = await setupTransport(url, env);
  try {
    if (store === null) return await joinAnew(options, remote, { invitation });
    return withWarning(await withInvitation(store, await rejoin(options, store, remote, given)), given);
  } finally {
    await remote.dispose();
  }
}

/** @throws MeshError `mesh_exists` where the mesh is not what is `wanted`. */
export async function joinAnew(
  options: Omit<JoinOptions, 'url'>,
  remote: SetupRemote,
  { wanted = null, invitation = null }: { wanted?: Wanted | null; invitation?: InviteCode | null },
): Promise<MembershipResult> {
  const given = await givenKey(options.keyFile);
  const key = given.key === undefined ? {} : { key: given.key };
  for (let attempt = 1; ; attempt++) {
    options.onProgress?.(`looking at ${remote.shown}`);
    const there = await discover(remote.transport, remote.shown);
    const prefix = meshPrefix(there);
    if (prefix === null) throw noMeshThere(remote.shown, there);
    if (wanted !== null) requireSame(remote, { asked: wanted.prefix, found: prefix, what: 'branches under' });
    const config = configToJoin(options, { there, prefix, remote: remote.url });
    const { handle } = config;
    const building = await Store.create(options.dir, { config, ...key }, storeDeps(options));
    let store: Store;
    try {
      await takeIn(building.store, remote, {
        ...options,
        there,
        accept: (charter, commit) => {
          const { policy } = charter;
          if (invitation !== null) requireInvitedMesh(invitation, { ...charter, commit }, remote.shown);
          if (wanted !== null) requireSame(remote, { asked: wanted.policy, found: policy, what: 'the policy' });
        },
      });
      if (invitation !== null) {
        await requireInviter(building.store, invitation);
        await requireUnused(building.store, invitation);
      }
      await beginBranch(building.store, invitation === null ? {} : { invite: claimOf(building.store, invitation) });
      store = await building.publish();
    } catch (error) {
      await building.discard();
      throw diskError(error);
    }
    options.onProgress?.(`announcing ${handle}`);
    const announced = await announce(store, remote);
    if (announced.kind === 'taken') {
      // The store was made a moment ago, and nothing in it went anywhere.
      await store.retract();
      if (options.machine !== undefined || attempt >= maxAttempts) throw handleTaken(handle);
      continue;
    }
    const made = `this machine joined the mesh ${store.config.mesh.name} as ${handle}, with its store at ${store.dir}`;
    await firstRound(options, made);
    const warning = await charterWarning(
      store,
      announced.kind === 'done' ? undefined : readOnlyWarning(store, announced),
    );
    const result = await withInvitation(store, joinedResult(store, announced.kind === 'done', { warning, invitation }));
    return withWarning(result, given);
  }
}

function requireSame(
  remote: SetupRemote,
  { asked, found, what }: { asked: string; found: string; what: string },
): void {
  if (asked === found) return;
  throw new MeshError(
    'mesh_exists',
    `${remote.shown} became a mesh a moment ago, founded by another machine with ${what} ${found}, where ${asked} was asked for. ` +
      `Nothing was made here. Join it as it is with \`git mesh join ${shellWord(remote.shown)}\`, or take another repository.`,
    { data: { asked, found } },
  );
}
