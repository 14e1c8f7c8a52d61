import { MeshError, remoteRefPrefix } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import type { RoundContext } from './remote-context.js';
import type { HeadStart } from './transport/head-start.js';

/**
 * The remote's refs, where the exchange that is to take a push tells of all that fetches told of before: a repository may
 * show other refs to who pushes. Null where it does not, or refuses us: then it is asked as a fetch asks.
 *
 * @throws MeshError where the remote cannot be reached, as a fetch would find it.
 */
export async function toldByPush(
  { mesh, remote }: RoundContext,
  early: HeadStart,
  seen: ReadonlyMap<RefName, Oid> | null,
): Promise<ReadonlyMap<RefName, Oid> | null> {
  let refs: ReadonlyMap<RefName, Oid>;
  try {
    ({ refs } = await early.advertised());
  } catch (error) {
    if (!(error instanceof MeshError) || isOfTheWay(error)) throw error;
    return null;
  }
  const known = new Set(seen?.keys());
  const { config, refs: here } = mesh.store;
  const tracking = remoteRefPrefix(remote.name, config.ref_prefix);
  for (const { ref } of await here.list(tracking))
    known.add(`${config.ref_prefix}${ref.slice(tracking.length)}` as RefName);
  // From an empty one, or the first look at one, nothing is concluded.
  return known.size > 0 && [...known].every((ref) => refs.has(ref)) ? refs : null;
}

/** No other service would be there either. */
const isOfTheWay = ({ errorName, data }: MeshError): boolean =>
  errorName === 'deadline' || (errorName === 'unreachable' && data['http_status'] === undefined);
