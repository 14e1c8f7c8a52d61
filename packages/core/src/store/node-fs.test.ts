import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeFs } from './node-fs.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mesh-fs-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

test('a folder is made with its parents, and the topmost that was made is named', async () => {
  expect(await nodeFs.makeFolder(join(root, 'a', 'b', 'c'))).toBe(join(root, 'a'));
  expect(await nodeFs.makeFolder(join(root, 'a', 'b', 'c'))).toBeNull();
  expect(await nodeFs.makeFolder(join(root, 'a', 'd'))).toBe(join(root, 'a', 'd'));
});

test('a file in the way is an error', async () => {
  writeFileSync(join(root, 'file'), '');
  await expect(nodeFs.makeFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(nodeFs.makeFolder(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test.runIf(process.platform === 'linux')('a folder that takes nothing in is an error, not an endless try', async () => {
  await expect(nodeFs.makeFolder('/proc/self/nope/store')).rejects.toMatchObject({ code: 'ENOENT' });
});
