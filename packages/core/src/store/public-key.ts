import { createHash, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { MeshError } from '../errors.js';
import { SshReader, sshString } from './ssh-wire.js';

const algorithm = 'ssh-ed25519';

/**
 * Points of small order, with which a signature of zeros verifies anything: the eight of the curve and the encodings
 * past the field's prime that stand for them. The last byte is without the sign bit.
 */
const smallOrder: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

/** The 32 bytes of a key that is given as `ssh-ed25519 AAAA…` without a comment; null for anything else or a weak key. */
export function publicKeyBytes(line: string): Uint8Array | null {
  const base64 = /^ssh-ed25519 ([A-Za-z0-9+/]+={0,2})$/.exec(line)?.[1];
  if (base64 === undefined) return null;
  const blob = Buffer.from(base64, 'base64');
  return blob.toString('base64') === base64 ? keyOfBlob(blob) : null;
}

/** @throws MeshError `invalid_argument` for anything but a sound Ed25519 key as one OpenSSH line without a comment. */
export function checkPublicKey(line: string): void {
  if (publicKeyBytes(line) !== null) return;
  throw new MeshError('invalid_argument', 'no public key: expected one line "ssh-ed25519 AAAA…" of an Ed25519 key');
}

export function keyOfBlob(blob: Uint8Array): Uint8Array | null {
  const reader = new SshReader(blob);
  const name = reader.text();
  const key = reader.string();
  if (name !== algorithm || key?.length !== 32 || !reader.atEnd) return null;
  return isSmallOrder(key) ? null : Uint8Array.from(key);
}

export function isSmallOrder(key: Uint8Array): boolean {
  const unsigned = Buffer.from(key);
  unsigned[31] = (unsigned[31] ?? 0) & 0x7f;
  return smallOrder.has(unsigned.toString('hex'));
}

/** True for an Ed25519 key line whose point is of small order: signatures that anybody can make verify by it. */
export function isWeakKey(line: string): boolean {
  const base64 = /^ssh-ed25519 ([A-Za-z0-9+/]+={0,2})$/.exec(line)?.[1];
  const reader = new SshReader(Buffer.from(base64 ?? '', 'base64'));
  const name = reader.text();
  const key = reader.string();
  return name === algorithm && key?.length === 32 && isSmallOrder(key);
}

export function publicBlob(key: Uint8Array): Uint8Array {
  return Buffer.concat([sshString(algorithm), sshString(key)]);
}

export function publicLine(key: Uint8Array): string {
  return `${algorithm} ${Buffer.from(publicBlob(key)).toString('base64')}`;
}

/** As ssh-keygen -l shows it, `SHA256:…`. @throws MeshError `invalid_argument` for what is no key. */
export function keyFingerprint(line: string): string {
  checkPublicKey(line);
  const blob = Buffer.from(line.slice(algorithm.length + 1), 'base64');
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

export function publicKeyObject(key: Uint8Array): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}
