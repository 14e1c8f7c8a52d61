import { keyFingerprint } from '@git-mesh/core';
import type { MembershipResult, Store } from '@git-mesh/core';
import { membershipResult } from './membership.js';

/** The result of a join. Under the policy `roster` it says that the machine waits, and what its member must compare. */
export function joinedResult(store: Store, writable: boolean, warning?: string): MembershipResult {
  const notices = [warning, waitsNotice(store)].filter((text) => text !== undefined);
  return membershipResult(store, writable, notices.length === 0 ? undefined : notices.join(' '));
}

function waitsNotice({ config, signer }: Store): string | undefined {
  if (config.policy === 'open') return undefined;
  return (
    `This machine waits to be admitted: nobody reads what it writes until a member runs git mesh admit ${config.handle}. ` +
    `Tell them its fingerprint by another way, for them to compare: ${keyFingerprint(signer.publicKey)}`
  );
}
