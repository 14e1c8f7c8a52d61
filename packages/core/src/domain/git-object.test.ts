import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import type { CommitParts } from './git-object.js';
import { decodeCommit, decodeTree, encodeCommit, encodeTree } from './git-object.js';
import type { TreeEntry } from './git-object.js';
import type { Oid } from './ids.js';
import { parseCommitMessage } from './commit-message.js';
import { isWellFormed } from './visible-text.js';

let dir = '';
const git = (args: string[], input?: Uint8Array | string): Buffer =>
  execFileSync('git', args, {
    env: { ...process.env, GIT_DIR: dir, GIT_CONFIG_GLOBAL: join(dir, 'none'), GIT_CONFIG_NOSYSTEM: '1' },
    ...(input === undefined ? {} : { input }),
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'git-object-'));
  git(['init', '-q', '--bare', dir]);
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

const text = (s: string): Uint8Array => new TextEncoder().encode(s);
const oid = (digit: string): Oid => digit.repeat(40) as Oid;
const parts: CommitParts = {
  tree: oid('a'),
  parents: [oid('b')],
  author: { name: 'builder', email: 'builder@studio.mesh.invalid', at: 1_796_187_600_999 },
  committer: { name: 'studio', email: 'studio@mesh.invalid', at: 1_796_187_601_000 },
  gpgsig: null,
  message: 'checkin builder\n\nMesh-Event: checkin\n',
};
const signature = '-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\nAAAA\n-----END SSH SIGNATURE-----';

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    expect((error as MeshError).errorName).toBe('protocol_error');
    return (error as MeshError).message;
  }
  throw new Error('nothing was thrown');
}

describe('commits', () => {
  it('are what git reads', () => {
    const tree = git(['mktree'], '').toString().trim() as Oid;
    const id = git(['hash-object', '-t', 'commit', '-w', '--stdin'], encodeCommit({ ...parts, tree, parents: [] }))
      .toString()
      .trim();
    const shown = git(['log', '-1', '--format=%an|%ae|%ad|%cn|%ce|%cd|%s|%P', '--date=raw', id]).toString().trim();
    expect(shown).toBe(
      'builder|builder@studio.mesh.invalid|1796187600 +0000|studio|studio@mesh.invalid|1796187601 +0000|checkin builder|',
    );
    git(['fsck', '--strict', '--no-dangling']);
    const bytes = new Uint8Array(git(['cat-file', 'commit', id]));
    expect(decodeCommit(bytes)).toMatchObject({ tree, parents: [], message: parts.message, gpgsig: null });
    expect(decodeCommit(bytes).author.at).toBe(1_796_187_600_000);
  });

  it('carry a signature over exactly the commit without it', () => {
    const signed = decodeCommit(encodeCommit({ ...parts, gpgsig: `${signature}\n` }));
    expect(signed.gpgsig).toBe(signature);
    expect(signed.signedBytes).toEqual(encodeCommit(parts));
    expect(signed).toMatchObject({ parents: parts.parents, committer: parts.committer, message: parts.message });
  });

  const header = `tree ${oid('a')}\nauthor a <a@x> 1 +0000\ncommitter b <b@x> 2 -0730\n`;

  it('are read with headers and names of others', () => {
    const commit = decodeCommit(text(`${header}encoding latin1\nmergetag object x\n type commit\n\nHEADline\n`));
    expect(commit.committer).toEqual({ name: 'b', email: 'b@x', at: 2000 });
    expect(commit.signedBytes.length).toBeGreaterThan(0);
    expect(decodeCommit(text(header.replace('a <a@x>', '<>') + '\n')).author).toEqual({
      name: '',
      email: '',
      at: 1000,
    });
    expect(decodeCommit(text(header)).message).toBe('');
    const latin = decodeCommit(Uint8Array.of(...text(`${header}\n`), 0xe9, 0x0a));
    expect(latin.message).toBe('\ufffd\n');
  });

  it('with ten megabytes of subject are read, and their subject is no event', () => {
    const commit = decodeCommit(text(`${header}\n${'x'.repeat(10_000_000)}\n\nMesh-Event: send\nMesh-Seq: 1\n`));
    expect(commit.message.length).toBeGreaterThan(10_000_000);
    expect(parseCommitMessage(commit.message)).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['no author', `tree ${oid('a')}\ncommitter b <b@x> 2 +0000\n\nx`],
    ['no committer', `tree ${oid('a')}\nauthor b <b@x> 2 +0000\n\nx`],
    ['no tree', 'author b <b@x> 2 +0000\n\nx'],
    ['a short tree id', 'tree abc\nauthor b <b@x> 2 +0000\n\nx'],
    ['two trees', `tree ${oid('a')}\n${header}\n`],
    ['a second author', `${header}author b <b@x> 2 +0000\n\nx`],
    ['a parent after the author', `${header}parent ${oid('b')}\n\nx`],
    ['two signatures', `${header}gpgsig a\n b\ngpgsig a\n\nx`],
    ['another kind of signature', `${header}gpgsig-sha256 a\n\nx`],
    ['a date without a number', header.replace(' 1 ', ' x ')],
    ['a negative date', header.replace(' 1 ', ' -1 ')],
    ['a date past the year 9999', header.replace(' 1 ', ' 999999999999999 ')],
    ['a date past 64 bits', header.replace(' 1 ', ' 99999999999999999999999 ')],
    ['a date without a zone', header.replace('1 +0000', '1')],
    ['a NUL in a header', header.replace('a <', '\0 <')],
    ['a header without a value', `${header}x\n\nx`],
    ['a continuation first', ` x\n${header}\n`],
    ['headers without an end', header.trimEnd()],
    ['a megabyte of headers', `${header}x ${'y'.repeat(1_000_000)}\n\nx`],
    ['a hundred parents', header.replace('author', `${`parent ${oid('c')}\n`.repeat(100)}author`)],
  ])('with %s are refused', (_, commit) => {
    expect(refusal(() => decodeCommit(text(commit)))).toContain('a commit object is not valid');
  });

  it('are not written with a name that would end its line', () => {
    for (const name of ['', ' ', 'a\nb', 'a <b', 'a>', 'a\0'])
      expect(() => encodeCommit({ ...parts, author: { ...parts.author, name } })).toThrow(/name or e-mail/);
  });
});

describe('trees', () => {
  it('are sorted as git sorts them, and read back', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'a.b', 'a-b', 'a0', 'é', '\uffee', '😀', 'B'),
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 8 })
        .filter((s) => isWellFormed(s) && !/[/\0]/.test(s) && s !== '.' && s !== '..' && !/git/i.test(s)),
    );
    const entry = fc.record({ name, mode: fc.constantFrom('100644', '40000') });
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: (e) => e.name, maxLength: 12 }), (list) => {
        const entries = list.map((e, i): TreeEntry => ({ ...e, oid: oid((i % 16).toString(16)) }));
        const bytes = encodeTree(entries);
        const listed = entries
          .map((e) => `${e.mode === '40000' ? '040000 tree' : '100644 blob'} ${e.oid}\t${e.name}\0`)
          .join('');
        const theirs = git(['mktree', '-z', '--missing'], listed).toString().trim();
        expect(git(['hash-object', '-t', 'tree', '--literally', '--stdin'], bytes).toString().trim()).toBe(theirs);
        expect(new Set(decodeTree(bytes))).toEqual(new Set(entries));
      }),
      { numRuns: 60 },
    );
  });

  const raw = (...entries: [string, string][]): Uint8Array =>
    Uint8Array.from(
      entries.flatMap(([mode, name]) => [...text(`${mode} ${name}`), 0, ...Array.from({ length: 20 }, () => 7)]),
    );

  it.each([
    ['cut off', raw(['100644', 'a']).slice(0, -1)],
    ['without a NUL', text('100644 a')],
    ['without a mode', raw(['', 'a'])],
    ['with a padded mode', raw(['040000', 'a'])],
    ['with an empty name', raw(['100644', ''])],
    ['with a dot', raw(['100644', '.'])],
    ['with two dots', raw(['40000', '..'])],
    ['with a slash in a name', raw(['100644', 'a/b'])],
    ['out of order', raw(['100644', 'b'], ['100644', 'a'])],
    ['with a name twice', raw(['100644', 'a'], ['100644', 'a'])],
    ['with a file and a folder of one name', raw(['100644', 'a'], ['100644', 'a.b'], ['40000', 'a'])],
    ['with a name that is no UTF-8', Uint8Array.of(...text('100644 '), 0xff, 0, ...new Uint8Array(20))],
  ])('%s are refused', (_, bytes) => {
    expect(refusal(() => decodeTree(bytes))).toContain('a tree object is not valid');
  });

  it('keep odd names and modes for their walkers to refuse', () => {
    expect(
      decodeTree(raw(['120000', '.git'], ['160000', 'CON'], ['100755', 'a\\b'])).map((e) => [e.mode, e.name]),
    ).toEqual([
      ['120000', '.git'],
      ['160000', 'CON'],
      ['100755', 'a\\b'],
    ]);
  });
});
