import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/store-fixture.js';
import { MachineKey, keyPath, readKey, verifySshSignature, writeKey } from './keys.js';
import { keyFingerprint } from './public-key.js';
import { nodeFs } from './node-fs.js';
import { isSmallOrder, publicKeyBytes, publicLine } from './public-key.js';
import { armour, sshString, uint32 } from './ssh-wire.js';

const random = (length: number): Uint8Array => randomBytes(length);
const hasSshKeygen = ((): boolean => {
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return error instanceof Error && 'status' in error && typeof error.status === 'number';
  }
})();

let folder: { path: string; remove: () => Promise<void> };
beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, 'mesh'));
});
afterEach(() => folder.remove());

describe('the key file', () => {
  it('gives the same key back and is readable for its owner alone', async () => {
    const key = MachineKey.generate(random);
    await writeKey(nodeFs, keyPath(folder.path), key, { random, comment: 'studio@mesh.invalid' });
    expect((await readKey(nodeFs, folder.path)).publicLine).toBe(key.publicLine);
    if (process.platform !== 'win32') expect((await stat(keyPath(folder.path))).mode & 0o777).toBe(0o600);
  });

  it.skipIf(!hasSshKeygen)('is one that ssh-keygen reads, whatever the length of the comment', async () => {
    for (const comment of ['', 'a', 'studio@mesh.invalid', 'x'.repeat(40)]) {
      const key = MachineKey.generate(random);
      await writeKey(nodeFs, keyPath(folder.path), key, { random, comment });
      const shown = execFileSync('ssh-keygen', ['-y', '-f', keyPath(folder.path)]).toString();
      expect(shown.trim().split(' ').slice(0, 2).join(' ')).toBe(key.publicLine);
      const listed = execFileSync('ssh-keygen', ['-l', '-f', keyPath(folder.path)]).toString();
      expect(listed.split(' ')[1]).toBe(keyFingerprint(key.publicLine));
    }
  });

  it.skipIf(!hasSshKeygen)('may be one that ssh-keygen made', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'me', '-f', keyPath(folder.path)]);
    const line = (await readFile(`${keyPath(folder.path)}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ');
    expect((await readKey(nodeFs, folder.path)).publicLine).toBe(line);
  });

  it('is refused when missing, cut, of another kind or with halves of two keys', async () => {
    const refused = (): Promise<void> =>
      expect(readKey(nodeFs, folder.path)).rejects.toMatchObject({ errorName: 'store_damaged' });
    await refused();
    const text = MachineKey.generate(random).toOpenSsh({ random, comment: '' });
    const bytes = Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64');
    const other = MachineKey.generate(random);
    const stated = bytes.indexOf('ssh-ed25519') + 15;
    Buffer.from(other.publicLine.slice(12), 'base64').copy(bytes, stated, 19);
    for (const bad of ['', text.slice(0, 200), text.replace('OPENSSH', 'RSA'), armour('OPENSSH PRIVATE KEY', bytes)]) {
      await writeFile(keyPath(folder.path), bad);
      await refused();
    }
  });
});

describe('a signature', () => {
  const key = MachineKey.generate(random);
  const data = Buffer.from('tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n');
  const armoured = key.signer().sign(data);

  it('holds for its data and key and for nothing else', () => {
    expect(verifySshSignature({ armoured, data, publicKey: key.publicLine })).toBe(true);
    expect(verifySshSignature({ armoured, data: Buffer.from('other'), publicKey: key.publicLine })).toBe(false);
    const other = MachineKey.generate(random).publicLine;
    expect(verifySshSignature({ armoured, data, publicKey: other })).toBe(false);
    expect(verifySshSignature({ armoured, data, publicKey: `${key.publicLine} comment` })).toBe(false);
  });

  it('never holds with any one bit of it changed', () => {
    const blob = Buffer.from(armoured.split('\n').slice(1, -2).join(''), 'base64');
    for (let bit = 0; bit < blob.length * 8; bit += 5) {
      const changed = Buffer.from(blob);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const text = armour('SSH SIGNATURE', changed);
      expect(verifySshSignature({ armoured: text, data, publicKey: key.publicLine })).toBe(false);
    }
    for (const text of [
      '',
      'x',
      armoured.slice(20),
      `x${armoured}`,
      `${armoured}x`,
      armour('SSH SIGNATURE', Buffer.concat([blob, Buffer.of(0)])),
    ]) {
      expect(verifySshSignature({ armoured: text, data, publicKey: key.publicLine })).toBe(false);
    }
  });

  it.skipIf(!hasSshKeygen)('made by ssh-keygen holds with either hash, but in no other namespace', async () => {
    const path = join(folder.path, 'k');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
    const publicKey = (await readFile(`${path}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ');
    const signed = (namespace: string, hash: string): string =>
      execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', path, '-n', namespace, '-O', `hashalg=${hash}`], {
        input: data,
        stdio: ['pipe', 'pipe', 'ignore'],
      }).toString();
    expect(verifySshSignature({ armoured: signed('git', 'sha512'), data, publicKey })).toBe(true);
    expect(verifySshSignature({ armoured: signed('git', 'sha256'), data, publicKey })).toBe(true);
    expect(verifySshSignature({ armoured: signed('file', 'sha512'), data, publicKey })).toBe(false);
  });
});

describe('a public key', () => {
  const smallOrder = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '0000000000000000000000000000000000000000000000000000000000000000',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  ];

  it.each(smallOrder)('of small order is refused, %s', (hex) => {
    const point = Buffer.from(hex, 'hex');
    expect(isSmallOrder(point)).toBe(true);
    const line = publicLine(point);
    expect(publicKeyBytes(line)).toBeNull();
    // A zero signature, with which Node's own check is content for some of these points.
    const inner = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.concat([point, Buffer.alloc(32)]))]);
    const blob = Buffer.concat([
      Buffer.from('SSHSIG'),
      uint32(1),
      sshString(Buffer.concat([sshString('ssh-ed25519'), sshString(point)])),
      sshString('git'),
      sshString(''),
      sshString('sha512'),
      sshString(inner),
    ]);
    const armoured = armour('SSH SIGNATURE', blob);
    expect(verifySshSignature({ armoured, data: Buffer.from('x'), publicKey: line })).toBe(false);
  });

  it('is 32 bytes in one exact form', () => {
    const { publicLine: line } = MachineKey.generate(random);
    expect(publicKeyBytes(line)).toHaveLength(32);
    const short = `ssh-ed25519 ${Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(31, 3))]).toString('base64')}`;
    for (const bad of ['', 'ssh-rsa AAAA', `${line}\n`, `${line} me`, `ssh-ed25519  ${line.slice(12)}`, short]) {
      expect(publicKeyBytes(bad)).toBeNull();
      expect(() => keyFingerprint(bad)).toThrow(/ssh-ed25519 AAAA/);
    }
  });
});
