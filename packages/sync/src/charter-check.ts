import {
  MeshError,
  charterPath,
  charterRef,
  maxLaterCommits,
  readCharter,
  readFounding,
  remoteRef,
} from '@git-mesh/core';
import type { CharterRecord, Handle, Objects, Oid, RefName } from '@git-mesh/core';
import type { RoundContext } from './remote-context.js';
import type { Rejected } from './remote-fetch.js';
import { moveRef } from './move-ref.js';

/** The charter travels with the branches and is named like one, but is no machine's. */
export const charterHandle: Handle = '_charter' as Handle;

/**
 * Judges the remote's charter where it is not the one that is accepted here. A charter is written once, at the founding:
 *
 * - what goes on from ours (whoever may push can put a commit on top of it) is not believed, whatever it says, and
 *   neither is what cannot be read. It is reported, and the exchange goes on with the charter we have: one push must not
 *   take every machine offline.
 * - another charter in its place that can be read and names another mesh, or a later format, is another repository:
 *   nothing is exchanged with it.
 *
 * @throws MeshError `different_mesh`, `format_too_new`
 */
export async function checkCharter(ctx: RoundContext, refs: ReadonlyMap<RefName, Oid>): Promise<Rejected | null> {
  const { config, objects, refs: local } = ctx.mesh.store;
  const ref = charterRef(config.ref_prefix);
  const there = refs.get(ref);
  // One that could not be brought is reported with the branches that could not.
  if (there === undefined || !(await objects.has(there))) return null;
  const ours = await local.read(ref);
  const tracking = remoteRef(ctx.remote.name, config.ref_prefix, charterHandle);
  if (there === ours) {
    await moveRef(ctx.mesh.store, tracking, there);
    return null;
  }
  const found = await orReason(readCharter(objects, there));
  const isLater = ours !== null && (await goesOnFrom(objects, ours, there));
  if (!isLater) refuseAnother(ctx, found);
  await moveRef(ctx.mesh.store, tracking, there);
  if (ours === null) return takeLost(ctx, ref, there);
  return {
    handle: charterHandle,
    tip: there,
    kind: 'charter_changed',
    message:
      `${charterPath} there was ${isLater ? 'changed by a later commit' : 'replaced'} (${whatItIs(found)}). A charter never ` +
      `changes after the founding: this machine goes on with the one it has, ${ours}. ${await whatFollows(objects, there, ref)} ` +
      (await wayBack(ctx, { ours, there, ref })),
  };
}

/** A store that lost its copy takes it from the first remote that has it: the founding of this very mesh, and nothing else. */
async function takeLost(ctx: RoundContext, ref: RefName, there: Oid): Promise<Rejected | null> {
  const { config, objects } = ctx.mesh.store;
  const found = await foundingOrReason(objects, there, ref);
  const stated = (await ctx.mesh.branches.accepted(config.handle))?.machine?.charter;
  const isOurs =
    !(found instanceof MeshError) &&
    found.mesh === config.mesh.id &&
    found.policy === config.policy &&
    (stated ?? there) === there;
  if (isOurs) {
    await moveRef(ctx.mesh.store, ref, there);
    return null;
  }
  const why =
    found instanceof MeshError
      ? found.message
      : `it is ${there} with the policy ${found.policy}, and this machine went by ${stated ?? 'another one'} with the policy ${config.policy}`;
  return {
    handle: charterHandle,
    tip: there,
    kind: 'charter_changed',
    message: `this store lost its copy of ${charterPath}, and the one there is not taken in its place: ${why}`,
  };
}

const foundingOrReason = (objects: Objects, commit: Oid, ref: RefName): Promise<CharterRecord | MeshError> =>
  orReason(readFounding(objects, commit, ref));

async function whatFollows(objects: Objects, there: Oid, ref: RefName): Promise<string> {
  return (await foundingOrReason(objects, there, ref)) instanceof MeshError
    ? 'Until it is put back, join refuses there.'
    : 'Until it is put back, a machine that joins there without an invitation takes the other one.';
}

/** Whoever joined under a forged charter must not be told to push that one. */
async function wayBack(
  { mesh }: RoundContext,
  { ours, there, ref }: { ours: Oid; there: Oid; ref: RefName },
): Promise<string> {
  const { config, objects } = mesh.store;
  if ((await foundingOrReason(objects, ours, ref)) instanceof MeshError) {
    return 'But the one it has is no founding itself: push it nowhere, and join again with another --dir.';
  }
  const others = (await mesh.branches.allAccepted())
    .filter(({ handle, machine }) => handle !== config.handle && machine?.charter === there)
    .map(({ handle }) => handle);
  if (others.length > 0) {
    return (
      `${others.slice(0, 5).join(', ')} ${others.length === 1 ? 'goes' : 'go'} by that one: find out with the people who run ` +
      'the machines which of the two the founder made before anybody pushes one.'
    );
  }
  return (
    `Compare it with another member's (git --git-dir STORE rev-parse ${ref}); where both are the same, put it back: ` +
    `git --git-dir STORE push --force REMOTE ${ours}:${ref}`
  );
}

async function orReason(reading: Promise<CharterRecord>): Promise<CharterRecord | MeshError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
}

function refuseAnother(ctx: RoundContext, found: CharterRecord | MeshError): void {
  const { name } = ctx.remote;
  if (found instanceof MeshError) {
    if (found.errorName !== 'format_too_new') return;
    throw new MeshError(
      'format_too_new',
      `The repository at remote ${name} was founded in a later format: nothing was fetched or pushed. ${found.message}`,
      { data: found.data },
    );
  }
  if (found.mesh === ctx.mesh.store.config.mesh.id) return;
  throw new MeshError(
    'different_mesh',
    `The repository at remote ${name} now holds another mesh ("${found.name}"): nothing was fetched or pushed. ` +
      'Put the right repository back, or remove this remote.',
  );
}

const whatItIs = (found: CharterRecord | MeshError): string =>
  found instanceof MeshError ? found.message : `it names the mesh ${found.mesh}`;

async function goesOnFrom(objects: Objects, older: Oid, newer: Oid): Promise<boolean> {
  let next: Oid[] = [newer];
  const seen = new Set<Oid>();
  while (next.length > 0 && seen.size < maxLaterCommits) {
    const parents: Oid[] = [];
    for (const oid of next) {
      if (oid === older) return true;
      if (seen.has(oid) || !(await objects.has(oid))) continue;
      seen.add(oid);
      try {
        parents.push(...(await objects.commit(oid)).parents);
      } catch (error) {
        // Whoever wrote it may have written anything.
        if (!(error instanceof MeshError)) throw error;
      }
    }
    next = parents;
  }
  return false;
}
