import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyChanges } from './apply.js';
import { readText } from './config-file.js';

const options = { newMode: 0o600, uid: process.getuid?.() };
const posix = process.platform !== 'win32';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'git-mesh-setup-'));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

const to = (path: string, before: string | null, after: string | null) => ({ path, before, after });

describe('a configuration', () => {
  it('is made with its folder, replaced with its permissions kept, and removed; no other file is left', async () => {
    const dir = folder();
    const path = join(dir, 'a', 'b.json');
    await applyChanges([to(path, null, '{}')], options);
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o664);
    await applyChanges([to(path, '{}', '{ }')], options);
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o664);
    expect(readdirSync(join(dir, 'a'))).toEqual(['b.json']);
    await applyChanges([to(path, '{ }', null)], options);
    expect(readdirSync(join(dir, 'a'))).toEqual([]);
  });

  it.skipIf(!posix)('is written behind its links, there or not, and the links stay', async () => {
    const dir = folder();
    const [path, middle, file] = [join(dir, 'link'), join(dir, 'middle'), join(dir, 'dotfiles', 'real')];
    mkdirSync(join(dir, 'dotfiles'));
    symlinkSync(middle, path);
    symlinkSync('dotfiles/real', middle);
    await applyChanges([to(path, await readText(path), 'one')], options);
    await applyChanges([to(path, 'one', 'two')], options);
    expect([readFileSync(file, 'utf8'), lstatSync(path).isSymbolicLink()]).toEqual(['two', true]);
    await applyChanges([to(path, 'two', null)], options);
    expect([existsSync(file), lstatSync(path).isSymbolicLink(), lstatSync(middle).isSymbolicLink()]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('that is read-only stays, for root too, and so does the one beside it', async () => {
    const dir = folder();
    const [first, second] = [join(dir, 'first'), join(dir, 'second')];
    writeFileSync(first, '1');
    writeFileSync(second, '2');
    chmodSync(second, 0o400);
    for (const after of ['3', null]) {
      const changes = [to(first, '1', '9'), to(second, '2', after)];
      const refused = { errorName: 'forbidden', message: expect.stringContaining(`${second} cannot be changed, because it is read-only`) as string }; // prettier-ignore
      await expect(applyChanges(changes, options)).rejects.toMatchObject(refused);
    }
    expect([readFileSync(first, 'utf8'), readFileSync(second, 'utf8')]).toEqual(['1', '2']);
    await applyChanges([to(second, '2', '2')], options);
    if (!posix) chmodSync(second, 0o600);
  });

  it.skipIf(!posix)('in a read-only folder, behind a ring of links, or that is no file is refused', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'closed'), { mode: 0o555 });
    const path = join(dir, 'closed', 'deep', 'x');
    await expect(applyChanges([to(path, null, '1')], options)).rejects.toThrow(/folder .* is read-only \(mode 0555\)/);
    symlinkSync('ring', join(dir, 'ring'));
    await expect(readText(join(dir, 'ring'))).rejects.toThrow('ring');
    await expect(readText(dir)).rejects.toThrow('no regular file');
    writeFileSync(join(dir, 'utf16'), Buffer.from('{}', 'utf16le').fill(0xff, 0, 1));
    await expect(readText(join(dir, 'utf16'))).rejects.toThrow('no UTF-8');
  });

  it.skipIf(!posix || process.getuid?.() !== 0)(
    'of another user is refused, and keeps its owner when root writes it',
    async () => {
      const dir = folder();
      const path = join(dir, 'x');
      writeFileSync(path, '1');
      const { chownSync } = await import('node:fs');
      chownSync(path, 1234, 4321);
      await expect(applyChanges([to(path, '1', '2')], { ...options, uid: 999 })).rejects.toThrow('another user');
      await applyChanges([to(path, '1', '2')], options);
      expect(statSync(path)).toMatchObject({ uid: 1234, gid: 4321 });
    },
  );

  it('that another program changed meanwhile stays; two at once with one result are no conflict', async () => {
    const path = join(folder(), 'x');
    writeFileSync(path, 'theirs');
    await expect(applyChanges([to(path, 'mine', 'next')], options)).rejects.toMatchObject({ errorName: 'conflict' });
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    await Promise.all([1, 2, 3].map(() => applyChanges([to(path, 'theirs', 'next')], options)));
    expect([readFileSync(path, 'utf8'), await readText(path)]).toEqual(['next', 'next']);
    await Promise.all([1, 2, 3].map(() => applyChanges([to(path, 'next', null)], options)));
    expect(existsSync(path)).toBe(false);
  });
});
