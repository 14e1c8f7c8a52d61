import { createHmac } from 'node:crypto';
import { isSameSecret } from './same-secret.js';

/** HMAC-SHA256 in base64url of a text (see `inviteProofText`) under an invitation's secret (32 bytes in base64url). */
export function inviteProof(secret: string, text: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(text, 'utf8').digest('base64url');
}

/** Takes as long for a proof that is nearly right as for one that is all wrong. */
export function isInviteProof(proof: string, secret: string, text: string): boolean {
  return isSameSecret(proof, inviteProof(secret, text));
}
