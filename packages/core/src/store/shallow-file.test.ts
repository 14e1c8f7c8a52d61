import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { git } from '../testing/git.js';
import { nodeFs } from './node-fs.js';
import { ShallowFile } from './shallow-file.js';

const one = 'a'.repeat(40) as Oid;
const two = 'b'.repeat(40) as Oid;

let gitdir: string;
let file: string;
let shallow: ShallowFile;

beforeEach(async () => {
  gitdir = await mkdtemp(join(tmpdir(), 'mesh-shallow-'));
  await git(gitdir, 'init', '--quiet', '--bare');
  await mkdir(join(gitdir, 'mesh'));
  file = join(gitdir, 'shallow');
  shallow = new ShallowFile(nodeFs, gitdir);
});

afterEach(async () => {
  await rm(gitdir, { recursive: true, force: true });
});

test('edges are git’s own: it takes the repository for a shallow one as long as there is one', async () => {
  expect([...(await shallow.read())]).toEqual([]);
  await shallow.move({ add: [one, two] });
  expect(await git(gitdir, 'rev-parse', '--is-shallow-repository')).toBe('true');
  // The commits have not come yet: that is no damage.
  expect(await git(gitdir, 'fsck', '--strict')).toBe('');
  await shallow.move({ add: [two], remove: [one] });
  expect(readFileSync(file, 'utf8')).toBe(`${two}\n`);
  await shallow.move({ remove: [two] });
  expect(existsSync(file)).toBe(false);
  expect(existsSync(`${file}.lock`)).toBe(false);
  expect(await git(gitdir, 'rev-parse', '--is-shallow-repository')).toBe('false');
});

test('what another process wrote is seen, and kept by a change; a line that git could not read is left out', async () => {
  await shallow.move({ add: [one] });
  await new ShallowFile(nodeFs, gitdir).move({ add: [two] });
  expect(await shallow.read()).toEqual(new Set([one, two]));
  writeFileSync(file, `${two}\nnonsense\n`);
  expect(await shallow.read()).toEqual(new Set([two]));
  await Promise.all([shallow.move({ add: [one] }), new ShallowFile(nodeFs, gitdir).move({ remove: [two] })]);
  expect(await shallow.read()).toEqual(new Set([one]));
});
