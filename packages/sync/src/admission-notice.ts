import { keyFingerprint } from '@git-mesh/core';
import type { InviteCode, MembershipResult, Store } from '@git-mesh/core';
import { membershipResult } from './membership.js';

/** The result of a join. Under the policy `roster` it says that the machine waits, and what its member must compare. */
export function joinedResult(
  store: Store,
  writable: boolean,
  { warning, invitation = null }: { warning?: string | undefined; invitation?: InviteCode | null } = {},
): MembershipResult {
  const notices = [warning, waitsNotice(store, invitation)].filter((text) => text !== undefined);
  return membershipResult(store, writable, notices.length === 0 ? undefined : notices.join(' '));
}

function waitsNotice({ config, signer }: Store, invitation: InviteCode | null): string | undefined {
  if (config.policy === 'open') return undefined;
  const waits = 'This machine waits to be admitted: nobody reads what it writes';
  if (invitation !== null) return `${waits} until ${invitation.by}, which invited it, has synchronised.`;
  return (
    `${waits} until a member runs git mesh admit ${config.handle}. ` +
    `Tell them its fingerprint by another way, for them to compare: ${keyFingerprint(signer.publicKey)}`
  );
}
