import { createHmac, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { inviteProof, isInviteProof } from './invite-proof.js';

const secret = randomBytes(32);
const text = 'git-mesh invite\nM\nlaptop\nssh-ed25519 AAAA\n';
const proof = createHmac('sha256', secret).update(text).digest('base64url');

it('a proof is the HMAC-SHA256 of the text under the secret’s 32 bytes', () => {
  expect(inviteProof(secret.toString('base64url'), text)).toBe(proof);
});

it.each([
  ['the right one', proof, text, true],
  ['one for another text', proof, text.replace('laptop', 'lab'), false],
  ['one that was cut', proof.slice(1), text, false],
  ['the same in another base64', `${proof}=`, text, false],
  ['none', '', text, false],
])('of %s it is said whether it proves', (_what, given, about, isRight) => {
  expect(isInviteProof(given, secret.toString('base64url'), about)).toBe(isRight);
});
