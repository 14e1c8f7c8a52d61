import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store-fixture.js';
import { readKeyFile } from './key-file.js';
import { MachineKey } from './keys.js';

let folder: { path: string; remove: () => Promise<void> };
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'id');
});
afterEach(() => folder.remove());

const keygen = (type: string, passphrase = '', ...rest: string[]): void => {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', file, ...rest]);
};
const refused = async (path: string, why: RegExp): Promise<void> => {
  await expect(readKeyFile(path)).rejects.toMatchObject({
    errorName: 'invalid_argument',
    message: expect.stringMatching(why) as string,
  });
};

test('a key that ssh-keygen made is taken, with a warning where others can reach it', async () => {
  keygen('ed25519');
  const { key, warning } = await readKeyFile(file);
  expect(execFileSync('ssh-keygen', ['-y', '-f', file]).toString()).toContain(key.publicLine);
  expect(warning).toBeNull();
  if (process.platform === 'win32') return;
  await chmod(file, 0o640);
  expect((await readKeyFile(file)).warning).toContain('mode 640');
});

test('anything else is refused with what it is', async () => {
  await refused(file, /is not there/);
  await mkdir(file);
  await refused(file, /is no file/);
  file = join(folder.path, 'encrypted');
  keygen('ed25519', 'secret');
  await refused(file, /passphrase/);
  await refused(`${file}.pub`, /public key/);
  file = join(folder.path, 'ecdsa');
  keygen('ecdsa');
  await refused(file, /of the type ecdsa-sha2-nistp256/);
  file = join(folder.path, 'pem');
  keygen('rsa', '', '-m', 'PEM', '-b', '2048');
  await refused(file, /not in OpenSSH format/);
  await writeFile(file, 'hello');
  await refused(file, /no private key/);
  const whole = MachineKey.generate(randomBytes).toOpenSsh({ random: randomBytes, comment: '' });
  await writeFile(file, whole.replace(/\n(.{60})/, '\nAAAA$1'));
  await refused(file, /OpenSSH|damaged/);
  await writeFile(file, 'x'.repeat(70_000));
  await refused(file, /too large/);
});
