import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { RandomBytes } from '../domain/clock.js';
import { MeshError } from '../errors.js';
import { readIfThere, writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import type { Signer } from './ports.js';
import { keyOfBlob, publicBlob, publicLine } from './public-key.js';
import { signSsh } from './ssh-signature.js';
import { SshReader, armour, sshString, uint32, unarmour } from './ssh-wire.js';

export { verifySshSignature } from './ssh-signature.js';

const label = 'OPENSSH PRIVATE KEY';
const magic = Buffer.from('openssh-key-v1\0');

/** A machine's Ed25519 key. */
export class MachineKey {
  /** `ssh-ed25519 AAAA…` */
  readonly publicLine: string;
  readonly #seed: Uint8Array;
  readonly #public: Uint8Array;
  readonly #private: KeyObject;

  /** `seed`: the 32 bytes that an Ed25519 key is made from. */
  constructor(seed: Uint8Array) {
    if (seed.length !== 32) throw new Error(`an Ed25519 seed has 32 bytes, got ${seed.length}`);
    this.#seed = Uint8Array.from(seed);
    // PKCS #8 for Ed25519 (RFC 8410): a fixed header, then the seed.
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    this.#private = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.#public = createPublicKey(this.#private).export({ format: 'der', type: 'spki' }).subarray(-32);
    this.publicLine = publicLine(this.#public);
  }

  static generate(random: RandomBytes): MachineKey {
    return new MachineKey(random(32));
  }

  signer(): Signer {
    const key = { private: this.#private, public: this.#public };
    return {
      publicKey: this.publicLine,
      sign: (data) => signSsh(data, key),
      signBytes: (data) => sign(null, data, key.private),
    };
  }

  /** The text of an unencrypted OpenSSH private key file. */
  toOpenSsh(options: { random: RandomBytes; comment: string }): string {
    const check = options.random(4);
    const plain = Buffer.concat([
      check,
      check,
      sshString('ssh-ed25519'),
      sshString(this.#public),
      sshString(Buffer.concat([this.#seed, this.#public])),
      sshString(options.comment),
    ]);
    const padding = Uint8Array.from({ length: (8 - (plain.length % 8)) % 8 }, (_, at) => at + 1);
    const blob = Buffer.concat([
      magic,
      sshString('none'),
      sshString('none'),
      sshString(''),
      uint32(1),
      sshString(publicBlob(this.#public)),
      sshString(Buffer.concat([plain, padding])),
    ]);
    return armour(label, blob);
  }

  /** Null for anything but one unencrypted Ed25519 key whose halves belong together. */
  static fromOpenSsh(source: string): MachineKey | null {
    const blob = unarmour(label, source);
    if (blob === null) return null;
    const outer = new SshReader(blob);
    if (outer.raw(magic.length)?.equals(magic) !== true) return null;
    const methods = [outer.text(), outer.text(), outer.text()];
    if (methods.join(' ') !== 'none none ' || outer.uint32() !== 1) return null;
    const stated = keyOfBlob(outer.string() ?? Buffer.alloc(0));
    const inner = new SshReader(outer.string() ?? Buffer.alloc(0));
    const checks = [inner.uint32(), inner.uint32()];
    const algorithm = inner.text();
    inner.string();
    const secret = inner.string();
    if (stated === null || checks[0] === undefined || checks[0] !== checks[1]) return null;
    if (algorithm !== 'ssh-ed25519' || secret?.length !== 64) return null;
    const key = new MachineKey(secret.subarray(0, 32));
    return key.publicLine === publicLine(stated) ? key : null;
  }
}

export const keyPath = (dir: string): string => join(dir, 'mesh', 'key');
/** The key that is to take its place, while a rotation goes on. */
export const nextKeyPath = (dir: string): string => join(dir, 'mesh', 'key.next');

/** Durable, readable for its owner alone. */
export async function writeKey(
  fs: Fs,
  path: string,
  key: MachineKey,
  options: { random: RandomBytes; comment: string },
): Promise<void> {
  await writeDurable(fs, path, Buffer.from(key.toOpenSsh(options)), { mode: 0o600 });
}

/** @throws MeshError `store_damaged` when the key is missing or is none that we write. */
export async function readKey(fs: Fs, dir: string): Promise<MachineKey> {
  const bytes = await readIfThere(fs, keyPath(dir));
  const key = bytes === null ? null : MachineKey.fromOpenSsh(Buffer.from(bytes).toString('latin1'));
  if (key !== null) return key;
  throw new MeshError(
    'store_damaged',
    `mesh/key of the store ${bytes === null ? 'is missing' : 'is no unencrypted Ed25519 key in OpenSSH format'}: put it back from a backup, or join the mesh under a new handle`,
  );
}
