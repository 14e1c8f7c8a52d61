import { MeshError, charterPath, charterRef, readCharter, remoteRef } from '@git-mesh/core';
import type { CharterRecord, Handle, Objects, Oid } from '@git-mesh/core';
import type { RoundContext } from './remote-context.js';
import type { Rejected } from './remote-fetch.js';
import { moveRef } from './move-ref.js';
import type { Advertisement } from './transport/port.js';

/** The charter travels with the branches and is named like one, but is no machine's. */
export const charterHandle: Handle = '_charter' as Handle;

/** Nobody has a reason to put even one commit on top of a charter. */
const maxLaterCommits = 1_000;

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
export async function checkCharter(ctx: RoundContext, { refs }: Advertisement): Promise<Rejected | null> {
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
  const found = await readOrReason(objects, there);
  const isLater = ours !== null && (await goesOnFrom(objects, ours, there));
  if (!isLater) refuseAnother(ctx, found);
  await moveRef(ctx.mesh.store, tracking, there);
  if (ours === null && 'mesh' in found) {
    // A store that lost its copy takes it from the first remote that has it.
    await moveRef(ctx.mesh.store, ref, there);
    return null;
  }
  const putBack = ours === null ? '' : `: git push --force REMOTE ${ours}:${ref}, in the folder of a store`;
  return {
    handle: charterHandle,
    tip: there,
    kind: 'charter_changed',
    message:
      `${charterPath} there was ${isLater ? 'changed by a later commit' : 'replaced'} (${whatItIs(found)}). A charter never ` +
      `changes after the founding: this machine goes on with the one it has, but nobody can join. Put it back${putBack}`,
  };
}

async function readOrReason(objects: Objects, commit: Oid): Promise<CharterRecord | MeshError> {
  try {
    return await readCharter(objects, commit);
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
