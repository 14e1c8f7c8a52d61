import { inviteProofText } from '../domain/invite-code.js';
import type { Handle } from '../domain/ids.js';
import { isInviteProof } from '../store/invite-proof.js';
import type { Invitation } from '../store/ports.js';
import { commitAdmission } from './admission.js';
import { contradiction } from './admission-conflict.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { claimsOf } from './invite-claims.js';
import type { Claim } from './invite-claims.js';
import { isOpen, isUnstated, stillOfUse } from './invitations.js';
import { writesNothing } from './left.js';
import { locked } from './write.js';
import type { Locked } from './run.js';

/** Enough to tell a person. */
const maxContestedKept = 10;

/**
 * Admits the machines that joined by an invitation of this machine, each invitation once and only where a single machine came
 * with it, and finishes what a crash left between an invitation's use and the admission. Looks at branches that came and were not accepted, too: under the
 * policy roster they are accepted only now. Cheap where no invitation is out.
 *
 * @throws MeshError for what concerns this store: a full disk, a lock that is held.
 */
export async function admitInvited(ctx: MeshContext): Promise<void> {
  const { store, branches, clock } = ctx;
  const out = await store.local.invitations();
  if (out.length === 0 || (await writesNothing(ctx))) return;
  const own = await branches.ownBranch();
  const claims = out.some((invitation) => invitation.used === undefined && isOpen(invitation, clock.now()))
    ? await claimsOf(ctx, ctx.branches.own)
    : [];
  const isDue =
    (await anyToAdmit(ctx, { own, claims, out })) ||
    (await stillOfUse(ctx, own, out)).length < out.length ||
    (await anyUnstated(ctx, out));
  if (!isDue) return;
  // Read again: another process may have admitted meanwhile, and only one at a time does.
  await locked(ctx, async (before) => {
    let state = before;
    let invitations = await store.local.invitations();
    for (const invitation of invitations) {
      const [used, ...others] = await comers(ctx, state.branch, { invitation, claims });
      if (used === undefined) continue;
      const outcome = others.length === 0 ? { used } : { contested: [used, ...others].slice(0, maxContestedKept) };
      invitations = invitations.map((each) => (each === invitation ? { ...each, ...outcome } : each));
      // Do not reorder: a crash after this leaves an admission to be made up for, the other way round a code that works twice.
      await store.local.putInvitations(invitations);
      if (others.length === 0) state = await admit(ctx, state, invitation, used);
    }
    for (const invitation of invitations) {
      if (invitation.used === undefined || !(await isUnstated(ctx, state.branch, invitation))) continue;
      if (await isFree(ctx, state.branch, invitation.used))
        state = await admit(ctx, state, invitation, invitation.used);
      else invitations = invitations.filter((each) => each !== invitation);
    }
    const kept = await stillOfUse(ctx, state.branch, invitations);
    if (kept.length < (await store.local.invitations()).length) await store.local.putInvitations(kept);
  });
}

async function admit(
  ctx: MeshContext,
  state: Locked,
  { id }: Invitation,
  machine: { handle: Handle; key: string },
): Promise<Locked> {
  const next = await commitAdmission(ctx, state, machine);
  ctx.logger.info(`${machine.handle} is admitted: it joined by the invitation ${id} of this machine`);
  return next;
}

async function anyToAdmit(
  ctx: MeshContext,
  { own, claims, out }: { own: Branch; claims: readonly Claim[]; out: readonly Invitation[] },
): Promise<boolean> {
  for (const claim of claims) {
    if (out.some((invitation) => proves(ctx, claim, invitation)) && (await isFree(ctx, own, claim))) return true;
  }
  return false;
}

async function anyUnstated(ctx: MeshContext, invitations: readonly Invitation[]): Promise<boolean> {
  const own = await ctx.branches.ownBranch();
  for (const invitation of invitations) if (await isUnstated(ctx, own, invitation)) return true;
  return false;
}

/** Who may be admitted by it, each once. Times in their commits are their own word, so none of several is the first. */
async function comers(
  ctx: MeshContext,
  own: Branch,
  { invitation, claims }: { invitation: Invitation; claims: readonly Claim[] },
): Promise<{ handle: Handle; key: string }[]> {
  const found = new Map<string, { handle: Handle; key: string }>();
  for (const claim of claims) {
    const { handle, key } = claim;
    if (proves(ctx, claim, invitation) && (await isFree(ctx, own, claim)))
      found.set(`${handle} ${key}`, { handle, key });
  }
  return [...found.values()];
}

/** Whether this claim may use the invitation: it is open, used by nobody, and the proof is of its secret. */
function proves(ctx: MeshContext, { id, proof, handle, key }: Claim, invitation: Invitation): boolean {
  const { used, contested } = invitation;
  if (invitation.id !== id || used !== undefined || contested !== undefined) return false;
  if (!isOpen(invitation, ctx.clock.now())) return false;
  const text = inviteProofText({ mesh: ctx.store.config.mesh.id, handle, key });
  return isInviteProof(proof, invitation.secret, text);
}

/** An invitation is for a newcomer: it neither takes over a handle nor brings back who was revoked. */
async function isFree(ctx: MeshContext, own: Branch, machine: { handle: Handle; key: string }): Promise<boolean> {
  const why = await contradiction(ctx, own, machine);
  if (why !== null) ctx.logger.debug(`${machine.handle} is not admitted by its invitation: ${why}`);
  return why === null;
}
