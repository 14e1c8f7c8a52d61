import { fromIso } from '../domain/ids.js';
import type { EpochMillis } from '../domain/ids.js';
import { rosterPath } from '../domain/layout.js';
import { maxSkewMs } from '../domain/skew.js';
import type { Invitation } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

/** A clock that was set back must not lengthen it. */
export function isOpen({ created_at, expires_at }: Invitation, now: EpochMillis): boolean {
  return now < fromIso(expires_at) && now >= fromIso(created_at) - maxSkewMs;
}

/**
 * Those that have not ended, and those that a machine has used and whose admission is still to be stated: a crash came
 * between the two.
 */
export async function stillOfUse(
  ctx: MeshContext,
  own: Branch,
  invitations: readonly Invitation[],
): Promise<Invitation[]> {
  const now = ctx.clock.now();
  const kept: Invitation[] = [];
  for (const invitation of invitations) {
    if (isOpen(invitation, now) || (await isUnstated(ctx, own, invitation))) kept.push(invitation);
  }
  return kept;
}

/** True for a used one as long as the own branch says nothing of the machine that used it. */
export async function isUnstated({ branches }: MeshContext, own: Branch, { used }: Invitation): Promise<boolean> {
  return used !== undefined && (await branches.file(own, rosterPath(used.handle))) === null;
}
