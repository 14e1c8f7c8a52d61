import {
  Branches,
  MeshError,
  claimsOf,
  cutOf,
  decodeInviteCode,
  decodeRoster,
  inviteProof,
  inviteProofText,
  isInviteCode,
  isInviteProof,
  keyFingerprint,
  keysOf,
  maxRecordBytes,
  requireUnexpired,
  rosterPath,
  usedBy,
  visibleText,
} from '@git-mesh/core';
import type {
  Branch,
  CharterRecord,
  Claim,
  InviteCode,
  MachineRecord,
  MembershipResult,
  Oid,
  Store,
} from '@git-mesh/core';
import { clock } from './system.js';

/** A joiner's side of an invitation. Nothing here puts the code or its secret into a message. */

/** Null for what is a URL or a path. @throws MeshError `invalid_argument`, `format_too_new` */
export function invitationIn(text: string): InviteCode | null {
  return isInviteCode(text) ? decodeInviteCode(text) : null;
}

/** @throws MeshError `forbidden` */
export function requireOpen(code: InviteCode): void {
  requireUnexpired(code, clock.now());
}

/** @throws MeshError `different_mesh` where the charter at the remote is not the very commit that the invitation is for. */
export function requireInvitedMesh(
  code: InviteCode,
  { mesh, name, commit }: Pick<CharterRecord, 'mesh' | 'name'> & { commit: Oid },
  shown: string,
): void {
  if (mesh === code.mesh && commit === code.charter) return;
  if (mesh === code.mesh) {
    throw new MeshError(
      'different_mesh',
      `The invitation of ${code.by} is for the charter ${code.charter}, and ${shown} has another one in its place, ${commit}: ` +
        'somebody replaced it. Nothing was made here. Tell a member, who puts the right one back.',
      { data: { expected: code.charter, found: commit } },
    );
  }
  const quoted = (text: string): string => `"${visibleText(text, { maxLength: 100 })}"`;
  throw new MeshError(
    'different_mesh',
    `The invitation of ${code.by} is for the mesh ${quoted(code.name)}, and ${shown} holds another one, ${quoted(name)}. ` +
      'Nothing was made here. Ask for a new invitation, by a way on which nobody can have changed it.',
    { data: { expected: code.mesh, found: mesh } },
  );
}

/**
 * The inviter must be in the mesh with the key that the invitation names: else the repository is not what it was when
 * the invitation was made, or somebody changed the invitation on its way.
 * @throws MeshError `forbidden`
 */
export async function requireInviter(store: Store, { by, key }: InviteCode): Promise<void> {
  const inviter = await acceptedBranch(store, by);
  const fingerprints = inviter?.machine ? keysOf(inviter.machine).map((each) => keyFingerprint(each)) : [];
  if (fingerprints.includes(key)) return requireThere(store, by, inviter?.machine?.left_at);
  const found = fingerprints.at(-1) ?? null;
  const what =
    found === null
      ? `the repository has no branch of ${by} that can be believed`
      : `${by} has the key ${found} there, where the invitation names ${key}`;
  throw new MeshError(
    'forbidden',
    `The invitation of ${by} does not fit the repository that it leads to: ${what}. Nothing was made here. Compare the ` +
      `fingerprint with the one that git mesh invite prints on ${by}, and ask for a new invitation.`,
    { data: { by, expected: key, found } },
  );
}

/** Nobody but the inviter admits by its invitation. @throws MeshError `forbidden` where it no longer can. */
async function requireThere(store: Store, by: InviteCode['by'], leftAt: string | undefined): Promise<void> {
  const cut = cutOf(await new Branches(store).roster(), by);
  const why = leftAt !== undefined ? `left the mesh at ${leftAt}` : cut === null ? null : `was revoked by ${cut.by}`;
  if (why === null) return;
  throw new MeshError(
    'forbidden',
    `The invitation of ${by} admits nobody any more: ${by} ${why}. Nothing was made here. Ask a member for a new one, or join ` +
      'by the URL and have a member admit this machine.',
    { data: { by } },
  );
}

/**
 * An invitation admits one machine. Proven by the secret, so that nobody can keep others out by naming an invitation.
 * @throws MeshError `forbidden` where the inviter has admitted another machine by it, or another one joined by it.
 */
export async function requireUnused(store: Store, { by, id, secret }: InviteCode): Promise<void> {
  const mesh = store.config.mesh.id;
  const ctx = { store, branches: new Branches(store) };
  const proves = ({ handle, key, proof }: Claim): boolean =>
    isInviteProof(proof, secret, inviteProofText({ mesh, handle, key }));
  const used = await usedBy(ctx, { by, id, proves });
  if (used !== null) {
    throw new MeshError(
      'forbidden',
      `The invitation of ${by} has been used: ${used} joined by it, and each admits one machine. Nothing was made here. ` +
        `Ask for a new one (git mesh invite, on ${by}).`,
      { data: { by, used_by: used } },
    );
  }
  const other = (await claimsOf(ctx, by)).find((claim) => claim.id === id && proves(claim));
  if (other === undefined) return;
  throw new MeshError(
    'forbidden',
    `${other.handle} has joined by this invitation of ${by} already, and each admits one machine. Nothing was made here. ` +
      `Where ${other.handle} is not yours, tell ${by} that somebody else has the code; and ask for a new one (git mesh ` +
      `invite, on ${by}).`,
    { data: { by, used_by: other.handle } },
  );
}

/** What a joining machine's `machine.yaml` says of its invitation. */
export function claimOf(store: Store, { by, id, secret }: InviteCode): NonNullable<MachineRecord['invite']> {
  const { config, signer } = store;
  const text = inviteProofText({ mesh: config.mesh.id, handle: config.handle, key: signer.publicKey });
  return { by, id, proof: inviteProof(secret, text) };
}

/** The result of a join, with what became of the machine's invitation as far as this store has heard. */
export async function withInvitation(store: Store, result: MembershipResult): Promise<MembershipResult> {
  const { config, signer } = store;
  const by = (await acceptedBranch(store, config.handle))?.machine?.invite?.by;
  if (by === undefined) return result;
  const inviter = await acceptedBranch(store, by);
  const blob = inviter === null ? null : await new Branches(store).file(inviter, rosterPath(config.handle));
  const admitted = blob !== null && isAdmission(await store.objects.blob(blob, maxRecordBytes), signer.publicKey);
  return { ...result, invited: { by, policy: config.policy, admitted } };
}

function isAdmission(bytes: Uint8Array, key: string): boolean {
  try {
    const stated = decodeRoster(bytes);
    return stated.key === key && stated.admitted_at !== undefined;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

async function acceptedBranch(store: Store, handle: InviteCode['by']): Promise<Branch | null> {
  return new Branches(store).get(handle);
}
