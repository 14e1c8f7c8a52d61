import { charterRef, handleOfRef } from '@git-mesh/core';
import type { MeshContext, Oid, RefName, RemoteState } from '@git-mesh/core';
import { isCarryDue } from './carry.js';
import type { RoundContext } from './remote-context.js';
import { isOpenAgain } from './remote-fetch.js';

/**
 * True where the mesh's branches there are as this process left them (`seen`) and nothing of others is to be brought
 * there: one small request, where the transport has one. False where that is not known for sure.
 */
export async function nothingMoved(
  { mesh, remote, signal }: RoundContext,
  before: RemoteState,
  seen: ReadonlyMap<RefName, Oid> | null,
): Promise<boolean> {
  const prefix = mesh.store.config.ref_prefix;
  const due = (before.behind ?? []).some((entry) => isCarryDue(entry, mesh.clock.now()));
  if (remote.transport.refs === undefined || seen === null || due) return false;
  // Of a remote without a charter the rest must be known too: it may have become a repository of something else.
  if (!seen.has(charterRef(prefix))) return false;
  // What was fetched and not decided on in a crash, or while the store was held, is still to be looked at.
  if (!(await allDecided(mesh, seen, before))) return false;
  const now = await remote.transport.refs(prefix, { signal });
  if (now === null) return false;
  const known = [...seen].filter(([ref]) => ref.startsWith(prefix));
  return now.size === known.length && known.every(([ref, oid]) => now.get(ref) === oid);
}

async function allDecided(
  mesh: MeshContext,
  seen: ReadonlyMap<RefName, Oid>,
  { rejected, behind = [] }: RemoteState,
): Promise<boolean> {
  const { config, refs } = mesh.store;
  const roster = await mesh.branches.roster();
  if (rejected.some((entry) => isOpenAgain(roster, entry))) return false;
  const known = new Set(rejected.map(({ handle, tip }) => `${handle} ${tip}`));
  for (const { handle, there } of behind) known.add(`${handle} ${there}`);
  for (const [ref, oid] of seen) {
    const handle = handleOfRef(config.ref_prefix, ref);
    if (handle === null || (await refs.read(ref)) === oid) continue;
    if (!known.has(`${handle} ${oid}`)) return false;
  }
  return true;
}
