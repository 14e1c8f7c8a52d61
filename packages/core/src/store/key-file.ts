import { readFile, stat } from 'node:fs/promises';
import { MeshError } from '../errors.js';
import { errnoOf } from './fs.js';
import { MachineKey } from './keys.js';
import { SshReader, unarmour } from './ssh-wire.js';

/** Many times what a private key has. */
const maxKeyFileBytes = 65_536;

export interface KeyFile {
  key: MachineKey;
  /** Where others could have read it, too; null where nothing is to be said. */
  warning: string | null;
}

/**
 * A private key that a person has already, as `ssh-keygen -t ed25519` makes it.
 * @throws MeshError `invalid_argument` that says what it is instead; none of the file's content is in it.
 */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const wrong = (why: string): MeshError =>
    new MeshError(
      'invalid_argument',
      `The key ${path} ${why}. Expected an unencrypted Ed25519 private key in OpenSSH format, as ssh-keygen -t ed25519 -N "" -f FILE makes it.`,
    );
  let source: string;
  let mode: number;
  try {
    const found = await stat(path);
    if (!found.isFile()) throw wrong('is no file');
    if (found.size > maxKeyFileBytes) throw wrong(`is too large for a key (${found.size} bytes)`);
    mode = found.mode & 0o777;
    source = await readFile(path, 'latin1');
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw wrong(code === 'ENOENT' || code === 'ENOTDIR' ? 'is not there' : `cannot be read (${code})`);
  }
  const key = MachineKey.fromOpenSsh(source);
  if (key === null) throw wrong(otherKind(source));
  // Windows has no such modes: there the folder's rights hold.
  const isOpen = process.platform !== 'win32' && (mode & 0o077) !== 0;
  const warning = isOpen
    ? `${path} can be reached by other users (mode ${mode.toString(8)}, expected 600): if others could read it, change this machine's key with git mesh rotate-key.`
    : null;
  return { key, warning };
}

function otherKind(source: string): string {
  if (/^\s*(?:ssh-|ecdsa-|sk-)\S+ AAAA/.test(source)) return 'is a public key: give the file without .pub';
  const blob = unarmour('OPENSSH PRIVATE KEY', source);
  if (blob === null) {
    return /^-----BEGIN [A-Z0-9 ]+-----/.test(source) ? 'is not in OpenSSH format' : 'is no private key';
  }
  const reader = new SshReader(blob);
  reader.raw('openssh-key-v1\0'.length);
  const cipher = reader.text();
  if (cipher !== undefined && cipher !== 'none') {
    return 'is protected by a passphrase, which nobody is there to type (ssh-keygen -p -N "" -f COPY takes it off a copy)';
  }
  reader.text();
  reader.string();
  reader.uint32();
  const type = new SshReader(reader.string() ?? new Uint8Array()).text();
  const isName = type !== undefined && /^[a-z0-9@.-]{1,60}$/.test(type) && type !== 'ssh-ed25519';
  return isName ? `is of the type ${type}` : 'is damaged';
}
