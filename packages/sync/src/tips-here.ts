import type { Oid, Refs } from '@git-mesh/core';

/** Every commit that a ref of the store names, for a server to go on from. */
export async function tipsHere(refs: Refs): Promise<Oid[]> {
  return [...new Set((await refs.list('refs/')).map(({ oid }) => oid))];
}
