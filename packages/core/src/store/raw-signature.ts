import { verify } from 'node:crypto';
import { publicKeyBytes, publicKeyObject } from './public-key.js';

/** True when `signature` (base64) is a plain Ed25519 signature of `data` by `publicKey` (`ssh-ed25519 AAAA…`). */
export function verifyBytes(signed: { publicKey: string; data: Uint8Array; signature: string }): boolean {
  const key = publicKeyBytes(signed.publicKey);
  return key !== null && verify(null, signed.data, publicKeyObject(key), Buffer.from(signed.signature, 'base64'));
}
