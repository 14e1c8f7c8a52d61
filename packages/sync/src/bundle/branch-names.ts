import type { Oid, RefName } from '@git-mesh/core';

/**
 * The refs of a bundle under the names they have in the mesh's own repository. A bundle that git made in a plain clone
 * has most of them under `refs/remotes/origin/` only: those count for the branches that they track, origin's first, but
 * never in place of one that is there by its own name.
 */
export function branchNames(refs: ReadonlyMap<RefName, Oid>): Map<RefName, Oid> {
  const named = new Map([...refs].filter(([ref]) => !ref.startsWith('refs/remotes/')));
  const tracking = [...refs]
    .map(([ref, oid]) => ({ oid, match: /^refs\/remotes\/([^/]+)\/(.+)$/.exec(ref) }))
    .map(({ oid, match }) => ({ oid, remote: match?.[1] ?? '', branch: match?.[2] ?? '' }))
    .filter(({ branch }) => branch !== '' && branch !== 'HEAD')
    .sort((a, b) => rank(a.remote) - rank(b.remote));
  for (const { branch, oid } of tracking) {
    const ref = `refs/heads/${branch}` as RefName;
    if (!named.has(ref)) named.set(ref, oid);
  }
  return named;
}

const rank = (remote: string): number => (remote === 'origin' ? 0 : 1);
