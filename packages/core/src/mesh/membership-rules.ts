import type { Handle } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import type { MeshContext } from './context.js';
import { keysOfBranch } from './standing.js';
import type { MachineStanding } from './standing.js';
import { joinRequests } from './requests.js';

/** How this machine itself stands in its mesh. Under `open` each counts for itself, and nothing has to be read for it. */
export async function ownStanding({ branches, store }: MeshContext): Promise<MachineStanding> {
  if (store.config.policy === 'open') return { standing: 'admitted', by: branches.own };
  return branches.standing(branches.own, keysOfBranch(await branches.ownBranch()));
}

/** @throws MeshError `forbidden` where the word of this machine counts for nobody. */
export async function requireMember(ctx: MeshContext, what: string): Promise<void> {
  const { standing, by } = await ownStanding(ctx);
  if (standing === 'founder' || standing === 'admitted') return;
  const own = ctx.branches.own;
  const why =
    standing === 'revoked'
      ? `it was revoked by ${by ?? 'a member'}`
      : `it waits to be admitted itself (git mesh admit ${own} on a member's machine; its key is ${keyFingerprint(ctx.store.signer.publicKey)})`;
  throw new MeshError('forbidden', `${own} cannot ${what}: only a member's word counts in this mesh, and ${why}.`, {
    data: { standing },
  });
}

/** Of a machine that has neither a branch here nor a request. */
export async function machineUnknown(ctx: MeshContext, machine: Handle): Promise<MeshError> {
  const known = (await ctx.branches.all()).map(({ handle }) => handle).filter((handle) => handle !== ctx.branches.own);
  const waiting = [...new Set((await joinRequests(ctx.store)).map(({ handle }) => handle))].filter(
    (handle) => !known.includes(handle),
  );
  const list = (handles: readonly Handle[]): string => (handles.length === 0 ? 'none' : handles.join(', '));
  return new MeshError(
    'machine_not_found',
    `No machine ${machine} is known here, on any remote. Known: ${list(known)}. Waiting to be admitted: ${list(waiting)}. ` +
      'A machine that has just joined is seen after a synchronisation.',
    { data: { machine, known, waiting } },
  );
}
