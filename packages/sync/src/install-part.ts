import type { Objects, Oid } from '@git-mesh/core';
import { fetchLimits } from './remote-context.js';
import type { FetchedPack } from './transport/fetch.js';

/**
 * Takes in a pack that may end before the first commits. The server's word makes an edge only of a commit that was not
 * here, so that it cannot cut off what is. Gives the edges that were made.
 */
export async function installPart(objects: Objects, { pack, edges }: FetchedPack): Promise<Oid[]> {
  const added: Oid[] = [];
  for (const oid of edges) if (!(await objects.has(oid))) added.push(oid);
  // Do not reorder: without its edge, a commit whose parents are missing is damage.
  if (added.length > 0) await objects.moveEdges({ add: added });
  await objects.installPack(pack, { maxObjectBytes: fetchLimits.maxObjectBytes });
  const needless: Oid[] = [];
  for (const oid of added) if (!(await objects.has(oid)) || (await isFirst(objects, oid))) needless.push(oid);
  if (needless.length > 0) await objects.moveEdges({ remove: needless });
  return added.filter((oid) => !needless.includes(oid));
}

/** A branch as long as what was asked for is cut off at its first commit, where nothing is cut off. */
const isFirst = async (objects: Objects, oid: Oid): Promise<boolean> =>
  (await objects.commit(oid)).parents.length === 0;
