import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

function field(data: Buffer | string): Buffer {
  const bytes = Buffer.from(data);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The 32 secret bytes of the unencrypted OpenSSH Ed25519 key that a store keeps. */
function seedOf(store: string): Buffer {
  const text = readFileSync(join(store, 'mesh', 'key'), 'latin1');
  const blob = Buffer.from(text.replace(/-----[^-]+-----/g, ''), 'base64');
  // The only field of 64 bytes: the seed and the public key.
  const at = blob.indexOf(Buffer.from([0, 0, 0, 64]));
  if (at < 0) throw new Error(`${store} keeps no Ed25519 key`);
  return blob.subarray(at + 4, at + 36);
}

/**
 * Signs raw commit objects with SSH signatures (PROTOCOL.sshsig, namespace `git`) by the store's key: what the machine's
 * own user can make with `git commit -S`. Written apart from the product's code, so that it checks that too.
 */
export function commitSigner(store: string): (raw: string) => string {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seedOf(store)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicBytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  const head = Buffer.from('SSHSIG');
  return (raw) => {
    const digest = createHash('sha512').update(raw).digest();
    const signed = Buffer.concat([head, field('git'), field(''), field('sha512'), field(digest)]);
    const blob = Buffer.concat([
      head,
      Buffer.from([0, 0, 0, 1]),
      field(Buffer.concat([field('ssh-ed25519'), field(publicBytes)])),
      field('git'),
      field(''),
      field('sha512'),
      field(Buffer.concat([field('ssh-ed25519'), field(sign(null, signed, key))])),
    ]);
    const body = blob.toString('base64').replace(/.{70}/g, '$&\n').trimEnd();
    const armoured = `-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----`;
    const end = raw.indexOf('\n\n');
    return `${raw.slice(0, end)}\ngpgsig ${armoured.replaceAll('\n', '\n ')}${raw.slice(end)}`;
  };
}

/** One commit, signed as by {@link commitSigner}. */
export function signedCommit(raw: string, store: string): string {
  return commitSigner(store)(raw);
}
