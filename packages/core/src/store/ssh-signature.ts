import { createHash, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { keyOfBlob, publicBlob, publicKeyBytes, publicKeyObject } from './public-key.js';
import { SshReader, armour, sshString, uint32, unarmour } from './ssh-wire.js';

/** OpenSSH's PROTOCOL.sshsig, with the namespace that git signs in. */
const magic = Buffer.from('SSHSIG');
const label = 'SSH SIGNATURE';
const namespace = 'git';
const hashes = ['sha512', 'sha256'] as const;

export function signSsh(data: Uint8Array, key: { private: KeyObject; public: Uint8Array }): string {
  const signature = sign(null, signedPart(data, 'sha512'), key.private);
  const blob = Buffer.concat([
    magic,
    uint32(1),
    sshString(publicBlob(key.public)),
    sshString(namespace),
    sshString(''),
    sshString('sha512'),
    sshString(Buffer.concat([sshString('ssh-ed25519'), sshString(signature)])),
  ]);
  return armour(label, blob);
}

/**
 * True when `armoured` is an Ed25519 signature of `data` in git's namespace by exactly `publicKey`
 * (`ssh-ed25519 AAAA…`), and nothing else.
 */
export function verifySshSignature(options: { armoured: string; data: Uint8Array; publicKey: string }): boolean {
  const expected = publicKeyBytes(options.publicKey);
  const blob = unarmour(label, options.armoured);
  if (expected === null || blob === null) return false;
  const parsed = parseSignature(blob);
  if (parsed === null || !Buffer.from(parsed.key).equals(expected)) return false;
  return verify(null, signedPart(options.data, parsed.hash), publicKeyObject(expected), parsed.signature);
}

/** As {@link verifySshSignature} with one key. Runs in node's thread pool, so that many can be checked at once. */
export type SshVerifier = (signed: { armoured: string; data: Uint8Array }) => Promise<boolean>;

export function sshVerifier(publicKey: string): SshVerifier {
  const expected = publicKeyBytes(publicKey);
  if (expected === null) return () => Promise.resolve(false);
  const key = publicKeyObject(expected);
  return ({ armoured, data }) => {
    const blob = unarmour(label, armoured);
    const parsed = blob === null ? null : parseSignature(blob);
    if (parsed === null || !Buffer.from(parsed.key).equals(expected)) return Promise.resolve(false);
    return verifyLater(signedPart(data, parsed.hash), key, parsed.signature);
  };
}

function verifyLater(data: Uint8Array, key: KeyObject, signature: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, data, key, signature, (error, isGood) => {
      if (error === null) resolve(isGood);
      else reject(error);
    });
  });
}

function parseSignature(blob: Uint8Array): { key: Uint8Array; hash: string; signature: Uint8Array } | null {
  const reader = new SshReader(blob);
  if (reader.raw(magic.length)?.equals(magic) !== true || reader.uint32() !== 1) return null;
  const key = keyOfBlob(reader.string() ?? Buffer.alloc(0));
  const space = reader.text();
  const reserved = reader.string();
  const hashName = reader.text();
  const hash = hashes.find((name) => name === hashName);
  const inner = reader.string();
  if (key === null || space !== namespace || reserved?.length !== 0 || hash === undefined || !reader.atEnd) return null;
  const wrapped = new SshReader(inner ?? Buffer.alloc(0));
  const algorithm = wrapped.text();
  const signature = wrapped.string();
  if (algorithm !== 'ssh-ed25519' || signature?.length !== 64 || !wrapped.atEnd) return null;
  return { key, hash, signature };
}

function signedPart(data: Uint8Array, hash: string): Uint8Array {
  const digest = createHash(hash).update(data).digest();
  return Buffer.concat([magic, sshString(namespace), sshString(''), sshString(hash), sshString(digest)]);
}
