import { fromIso } from '../domain/ids.js';
import type { EpochMillis } from '../domain/ids.js';
import { rosterPath } from '../domain/layout.js';
import { maxSkewMs } from '../domain/skew.js';
import type { Problem } from '../domain/results.js';
import type { Invitation } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { fingerprintOrNull } from './fingerprint-or-null.js';

/** How long a person is told of it. */
const contestedToldMs = 24 * 60 * 60 * 1000;

/** A clock that was set back must not lengthen it. */
export function isOpen({ created_at, expires_at }: Invitation, now: EpochMillis): boolean {
  return now < fromIso(expires_at) && now >= fromIso(created_at) - maxSkewMs;
}

/**
 * Those that have not ended, those that a machine has used and whose admission is still to be stated (a crash came between
 * the two), and for a day those that several came with.
 */
export async function stillOfUse(
  ctx: MeshContext,
  own: Branch,
  invitations: readonly Invitation[],
): Promise<Invitation[]> {
  const now = ctx.clock.now();
  const kept: Invitation[] = [];
  for (const invitation of invitations) {
    const isTold = invitation.contested !== undefined && now < fromIso(invitation.expires_at) + contestedToldMs;
    if (isTold || isOpen(invitation, now) || (await isUnstated(ctx, own, invitation))) kept.push(invitation);
  }
  return kept;
}

/** What is wrong with the invitations of this machine: more came by one than it is for. */
export async function contestedInvitations({ store, branches }: MeshContext): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { id, contested = [] } of await store.local.invitations()) {
    if (contested.length === 0) continue;
    const who = contested.map(({ handle, key }) => `${handle} (key ${fingerprintOrNull(key) ?? 'unknown'})`);
    problems.push({
      kind: 'invitation_contested',
      machine: branches.own,
      message: `the invitation ${id} of this machine is for one machine, and ${who.join(' and ')} joined by it: none of them is admitted by it, since somebody else has the code`,
      fix: 'ask whoever you gave the code to for the fingerprint of that machine (git mesh keys there), and admit the one that has it with git mesh admit MACHINE',
    });
  }
  return problems;
}

/** True for a used one as long as the own branch says nothing of the machine that used it. */
export async function isUnstated({ branches }: MeshContext, own: Branch, { used }: Invitation): Promise<boolean> {
  return used !== undefined && (await branches.file(own, rosterPath(used.handle))) === null;
}
