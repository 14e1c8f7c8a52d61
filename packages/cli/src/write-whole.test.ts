import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { UsageError } from './usage-error.js';
import { writeWhole } from './write-whole.js';

const onPosix = process.platform !== 'win32';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'git-mesh-write-'));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

const place = { store: join(tmpdir(), 'no-store-here') };

it('makes a file, and replaces one with its permissions kept', async () => {
  const path = join(folder(), 'page.html');
  await writeWhole(path, 'old', place);
  chmodSync(path, 0o640);
  await writeWhole(path, 'new', place);
  expect(readFileSync(path, 'utf8')).toBe('new');
  if (onPosix) expect(lstatSync(path).mode & 0o777).toBe(0o640);
});

it.skipIf(!onPosix)('writes behind a link, which stays', async () => {
  const dir = folder();
  const [link, real] = [join(dir, 'link.html'), join(dir, 'real.html')];
  writeFileSync(real, 'old');
  symlinkSync('real.html', link);
  await writeWhole(link, 'new', place);
  expect(readFileSync(real, 'utf8')).toBe('new');
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

it.skipIf(!onPosix)('replaces no pipe, no device behind a link and nothing read-only', async () => {
  const dir = folder();
  const [pipe, device, readOnly] = [join(dir, 'pipe'), join(dir, 'device'), join(dir, 'read-only')];
  execFileSync('mkfifo', [pipe]);
  symlinkSync('/dev/null', device);
  writeFileSync(readOnly, 'old', { mode: 0o400 });
  for (const [path, why] of [
    [pipe, 'it is no regular file'],
    [device, 'it is no regular file'],
    [readOnly, 'it is read-only'],
    [dir, 'it is a folder'],
  ] as const) {
    const error: unknown = await writeWhole(path, 'new', place).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`${path} could not be written, and was not changed: ${why}`);
  }
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  expect(readFileSync(readOnly, 'utf8')).toBe('old');
  expect(readdirSync(dir).sort()).toEqual(['device', 'pipe', 'read-only']);
});

it('writes nothing into the store, however it is named', async () => {
  const dir = folder();
  const [store, key, beside] = [join(dir, 'store'), join(dir, 'store', 'mesh', 'key'), join(dir, 'store.html')];
  mkdirSync(join(store, 'mesh'), { recursive: true });
  writeFileSync(key, 'the key');
  const paths = [key, join(store, 'new.html'), join(dir, 'store', '..', 'store', 'config')];
  if (onPosix) {
    symlinkSync(store, join(dir, 'link'));
    symlinkSync(key, join(dir, 'key.html'));
    paths.push(join(dir, 'link', 'mesh', 'key'), join(dir, 'key.html'));
  }
  for (const path of paths) {
    await expect(writeWhole(path, 'new', { store })).rejects.toThrow('it is in the store itself');
  }
  expect(readFileSync(key, 'utf8')).toBe('the key');
  expect(readdirSync(store)).toEqual(['mesh']);
  await writeWhole(beside, 'new', { store });
  expect(readFileSync(beside, 'utf8')).toBe('new');
});
