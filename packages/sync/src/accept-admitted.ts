import { fetchedTips } from '@git-mesh/core';
import type { MeshContext } from '@git-mesh/core';
import { acceptBranches } from './accept.js';
import type { Wanted } from './fetch-objects.js';
import { exchangeLimits } from './remote-context.js';
import type { ExchangeLimits } from './remote-context.js';

/**
 * Takes in branches that waited to be admitted and now are: their admission may have come from another remote than they
 * did, from a bundle, or from a person here. No network.
 */
export async function acceptAdmitted(
  mesh: MeshContext,
  options: { limits: ExchangeLimits; isOver: () => boolean } = { limits: exchangeLimits, isOver: () => false },
): Promise<void> {
  const { branches, store } = mesh;
  if (store.config.policy !== 'roster') return;
  for (;;) {
    const { ruling } = await branches.roster();
    const due: Wanted[] = [];
    for (const { handle, tip } of await fetchedTips(store)) {
      if (handle === branches.own || !ruling.admitted.has(handle)) continue;
      if ((await branches.accepted(handle)) === null && (await store.objects.has(tip))) due.push({ handle, oid: tip });
    }
    if (due.length === 0) return;
    const { rejected, unfinished } = await acceptBranches(mesh, due, options);
    if (unfinished || rejected.length === due.length) return;
  }
}
