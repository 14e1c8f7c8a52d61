import type { Handle, Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { machineAt } from './machine-at.js';
import { fetchedTips } from './requests.js';

/** A machine that says it was invited. Nothing of it is proven yet. */
export interface Claim {
  handle: Handle;
  key: string;
  id: string;
  proof: string;
}

/** Of the machines other than this one that say `by` invited them: by handle, then by where it was seen. */
export async function claimsOf(
  { store, branches }: Pick<MeshContext, 'store' | 'branches'>,
  by: Handle,
): Promise<Claim[]> {
  const { config, objects } = store;
  const tips = new Map<string, { handle: Handle; tip: Oid }>();
  const accepted = (await branches.allAccepted()).map(({ handle, tip }) => ({ handle, tip }));
  for (const one of [...accepted, ...(await fetchedTips(store))]) {
    if (one.handle !== branches.own) tips.set(`${one.handle} ${one.tip}`, one);
  }
  const claims: Claim[] = [];
  for (const [, { handle, tip }] of [...tips].sort(([a], [b]) => (a < b ? -1 : 1))) {
    try {
      const machine = await machineAt(objects, (await objects.commit(tip)).tree);
      if (machine?.handle !== handle || machine.mesh !== config.mesh.id) continue;
      const { invite, key } = machine;
      if (invite?.by === by) claims.push({ handle, key, id: invite.id, proof: invite.proof });
    } catch (error) {
      // What cannot be read claims nothing; the fetch and doctor name it.
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return claims;
}
