import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 in base64url of a text (see `inviteProofText`) under an invitation's secret (32 bytes in base64url). */
export function inviteProof(secret: string, text: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(text, 'utf8').digest('base64url');
}

/** Takes as long for a proof that is nearly right as for one that is all wrong. */
export function isInviteProof(proof: string, secret: string, text: string): boolean {
  const expected = Buffer.from(inviteProof(secret, text), 'latin1');
  const given = Buffer.from(proof, 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
