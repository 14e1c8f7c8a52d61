import type { Handle } from '../domain/ids.js';
import type { MeshContext } from './context.js';
import { claimsOf } from './invite-claims.js';
import type { Claim } from './invite-claims.js';

/**
 * Which other machine an invitation was used for, as far as this store has heard: one that names it and that the inviter
 * has spoken about by its key. Null where there is none. `proves` tells whether a claim was made with the invitation's secret;
 * without it the machine's word is taken, which is enough to say so and too little to refuse by.
 */
export async function usedBy(
  ctx: Pick<MeshContext, 'store' | 'branches'>,
  { by, id, proves = () => true }: { by: Handle; id: string; proves?: (claim: Claim) => boolean },
): Promise<Handle | null> {
  const inviter = await ctx.branches.get(by);
  if (inviter === null) return null;
  const said = await ctx.branches.statements.roster(inviter);
  for (const claim of await claimsOf(ctx, by)) {
    if (claim.id !== id || !proves(claim)) continue;
    if (said.some(({ handle, key }) => handle === claim.handle && key === claim.key)) return claim.handle;
  }
  return null;
}
