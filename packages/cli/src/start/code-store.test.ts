import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CompiledCode } from './code-file.js';
import { CodeStore } from './code-store.js';

const uid = process.getuid?.();
const code: CompiledCode = {
  compiledBytes: 1,
  afterRefusal: false,
  parts: new Map([['main.cjs', Buffer.from('code')]]),
};
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'git-mesh-code-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const folder = (): string => join(root, 'git-mesh', 'code');
const store = (
  options: { key?: string; command?: string; folder?: string; uid?: number | undefined } = {},
): CodeStore => new CodeStore({ folder: folder(), key: 'k1', command: 'inbox', uid, now: Date.now, ...options });

describe('kept code', () => {
  it('is read as it was written, under its key and command alone', () => {
    expect(store().read()).toBeNull();
    store().write(code);
    expect(store().read()).toEqual(code);
    expect(store({ key: 'k2' }).read()).toBeNull();
    expect(store({ command: 'hook' }).read()).toBeNull();
  });

  it.runIf(uid !== undefined)('lies where nobody else can write, and is not read from elsewhere', () => {
    store().write(code);
    const [own, file] = [join(folder(), 'k1'), join(folder(), 'k1', 'inbox')];
    expect([own, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    for (const [path, mode] of [
      [own, 0o700],
      [file, 0o600],
    ] as const) {
      // prettier-ignore
      chmodSync(path, mode | 0o020);
      expect(store().read()).toBeNull();
      store().write({ ...code, compiledBytes: 2 });
      chmodSync(path, mode);
      expect(store().read()).not.toBeNull();
    }
    expect(store({ uid: (uid ?? 0) + 1 }).read()).toBeNull();
  });

  it.runIf(uid !== undefined)('is not put into the home of another user', () => {
    store({ uid: (uid ?? 0) + 1 }).write(code);
    expect(readdirSync(root)).toEqual([]);
  });

  it('is no error where it cannot be written', () => {
    writeFileSync(join(root, 'file'), '');
    const nowhere = store({ folder: join(root, 'file', 'code') });
    nowhere.write(code);
    expect(nowhere.read()).toBeNull();
  });

  it('is none where the file was cut or is of another kind', () => {
    store().write(code);
    const file = join(folder(), 'k1', 'inbox');
    for (const text of ['', 'gmcode1\n', 'something else, and long enough for a header']) {
      writeFileSync(file, text);
      expect(store().read()).toBeNull();
    }
    store().write(code);
    expect(store().read()).toEqual(code);
  });

  it('is left to another process that writes it, unless that one died', () => {
    store().write(code);
    const temporary = join(folder(), 'k1', 'inbox.tmp');
    const newer = { ...code, compiledBytes: 2 };
    writeFileSync(temporary, 'half');
    store().write(newer);
    expect(store().read()).toEqual(code);
    utimesSync(temporary, 1, 1);
    store().write(newer);
    expect(store().read()).toEqual(newer);
    expect(readdirSync(join(folder(), 'k1'))).toEqual(['inbox']);
  });

  it('does not grow without end', () => {
    for (let n = 0; n < 7; n++) {
      store({ key: `k${n}` }).write(code);
      utimesSync(join(folder(), `k${n}`), n + 1, n + 1);
    }
    expect(readdirSync(folder()).sort()).toEqual(['k3', 'k4', 'k5', 'k6']);
    for (let n = 0; n < 70; n++) store({ key: 'k6', command: `word-${n}` }).write(code);
    expect(readdirSync(join(folder(), 'k6'))).toHaveLength(64);
  });
});
