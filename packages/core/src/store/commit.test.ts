import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { fsck, git } from '../testing/git.js';
import { storeDeps } from '../testing/store-fixture.js';
import { storeForEach } from '../testing/store-for-each.js';
import { commitOnBranch } from './commit.js';
import type { BranchCommit } from './commit.js';
import { MachineKey } from './keys.js';
import { nodeFs } from './node-fs.js';
import { Store } from './store.js';

const at = Date.UTC(2026, 11, 2, 5);

function change(path: string, content: string | null, rest: Partial<BranchCommit> = {}): BranchCommit {
  return {
    edits: new Map([[path, content === null ? null : Buffer.from(content)]]),
    event: { event: 'send', agent: 'Builder' as AgentId, messages: [], read: [], summary: `to * ${path}` },
    at,
    ...rest,
  };
}

const commit = (store: Store, made: BranchCommit): ReturnType<typeof commitOnBranch> =>
  store.withLock(() => commitOnBranch(store, made));

const { folder, store } = storeForEach();

describe('a commit on the own branch', () => {
  it('is read by stock git with its files, people, trailers and counter', async () => {
    const first = await commit(store, change('messages/_all/2026-12-02/0500/a.yaml', 'one\n'));
    const second = await commit(store, change('presence/b.yaml', 'two\n', { author: null }));
    expect([first.seq, second.seq]).toEqual([1, 2]);
    const format = '%H|%an <%ae>|%cn <%ce>|%ct|%(trailers:key=Mesh-Seq,valueonly,separator=%x2C)';
    expect(await git(store.dir, 'log', `--format=${format}`, store.branch)).toBe(
      [
        `${second.tip ?? ''}|studio <studio@mesh.invalid>|studio <studio@mesh.invalid>|${at / 1000}|2`,
        `${first.tip ?? ''}|Builder <Builder@studio.mesh.invalid>|studio <studio@mesh.invalid>|${at / 1000}|1`,
      ].join('\n'),
    );
    expect(await git(store.dir, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe(
      'messages/_all/2026-12-02/0500/a.yaml\npresence/b.yaml',
    );
    expect(await git(store.dir, 'cat-file', 'blob', 'HEAD:presence/b.yaml')).toBe('two');
    expect(await fsck(store.dir)).toBe('');
  });

  it('carries a signature that git verifies', async () => {
    const { tip } = await commit(store, change('a', 'x'));
    const signers = join(folder.path, 'signers');
    await writeFile(signers, `studio@mesh.invalid namespaces="git" ${store.signer.publicKey}\n`);
    await git(store.dir, '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', tip ?? '');
    const other = new MachineKey(Buffer.alloc(32, 7)).publicLine;
    await writeFile(signers, `studio@mesh.invalid namespaces="git" ${other}\n`);
    await expect(
      git(store.dir, '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', tip ?? ''),
    ).rejects.toThrow();
  });

  it('is not made when nothing changes, unless it may be empty', async () => {
    const { tip } = await commit(store, change('a', 'x'));
    expect(await commit(store, change('a', 'x'))).toEqual({ commit: null, seq: 1, tip });
    expect(await commit(store, change('not-there', null))).toEqual({ commit: null, seq: 1, tip });
    const empty = await commit(store, change('a', 'x', { allowEmpty: true }));
    expect(empty.seq).toBe(2);
    expect(await git(store.dir, 'rev-list', '--count', store.branch)).toBe('2');
  });

  it('is dated by the clock, of which only a small step back is evened out', async () => {
    const seconds = (ms: number): number => Math.floor(ms / 1000);
    await commit(store, change('a', 'x'));
    await commit(store, change('a', 'y', { at: at - 5_000 }));
    expect(await git(store.dir, 'log', '--format=%ct', store.branch)).toBe(`${seconds(at)}\n${seconds(at)}`);
    const yearsAhead = at + 4 * 365 * 86_400_000;
    await commit(store, change('a', 'z', { at: yearsAhead }));
    const mended = await commit(store, change('a', 'x', { at: at + 60_000 }));
    expect(await git(store.dir, 'log', '-2', '--format=%ct', store.branch)).toBe(
      `${seconds(at + 60_000)}\n${seconds(yearsAhead)}`,
    );
    expect(mended.seq).toBe(4);
    expect(await fsck(store.dir)).toBe('');
  });

  it('states the journal number of the caller or of the journal, whichever is higher', async () => {
    await store.withLock(() => store.journal.raiseTo(41));
    const journal = async (): Promise<string> =>
      git(store.dir, 'log', '-1', '--format=%(trailers:key=Mesh-Journal,valueonly,separator=%x2C)', store.branch);
    await commit(store, change('a', 'x'));
    expect(await journal()).toBe('41');
    const made = change('a', 'y');
    await commit(store, { ...made, event: { ...made.event, journal: 42 } });
    expect(await journal()).toBe('42');
  });

  it('removes files, and the branch stays sound with an empty tree', async () => {
    await commit(store, change('a/b/c', 'x'));
    await commit(store, change('a/b/c', null));
    expect(await git(store.dir, 'ls-tree', '-r', store.branch)).toBe('');
    expect(await fsck(store.dir)).toBe('');
  });

  it('goes on after stock git packed everything away, and after a commit made by stock git is refused clearly', async () => {
    for (let n = 0; n < 20; n++) await commit(store, change(`m/${n % 3}/${n}`, `${n}`));
    await git(store.dir, 'repack', '-adq');
    await git(store.dir, 'pack-refs', '--all');
    await git(store.dir, 'prune-packed');
    const reopened = await Store.open(store.dir, storeDeps());
    expect((await commit(reopened, change('m/new', 'x'))).seq).toBe(21);
    expect((await commit(store, change('m/newer', 'x'))).seq).toBe(22);
    expect(await fsck(store.dir)).toBe('');
    const tree = await git(store.dir, 'rev-parse', `${store.branch}^{tree}`);
    const odd = await git(store.dir, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit-tree', tree, '-m', 'odd');
    await git(store.dir, 'update-ref', store.branch, odd);
    await expect(commit(store, change('a', 'y'))).rejects.toMatchObject({ errorName: 'store_damaged' });
  });

  it('leaves few packs however many commits there are, and no temporary file', async () => {
    for (let n = 0; n < 70; n++) await commit(store, change(`a/${n % 7}`, `${n}`));
    const files = await readdir(join(store.dir, 'objects', 'pack'));
    expect(files.filter((name) => name.endsWith('.pack')).length).toBeLessThan(20);
    expect(files.filter((name) => !/^pack-[0-9a-f]{40}\.(?:pack|idx)$/.test(name))).toEqual([]);
    expect(await git(store.dir, 'rev-list', '--count', store.branch)).toBe('70');
    expect(await fsck(store.dir)).toBe('');
    const left = (await readdir(store.dir, { recursive: true })).filter((name) => /tmp_|\.lock$|\/lock$/.test(name));
    expect(left).toEqual([]);
  });
});

describe('a disk that fails during a commit', () => {
  const cases = [
    { what: 'ENOSPC', errorName: 'disk_full', code: 503 },
    { what: 'EROFS', errorName: 'read_only', code: 503 },
    { what: 'EACCES', errorName: 'read_only', code: 503 },
  ] as const;
  it.each(cases)('gives $errorName for $what at every step and leaves the tip as it was', async (fault) => {
    await commit(store, change('a/b/1', 'x'));
    const tip = await git(store.dir, 'rev-parse', store.branch);
    let failures = 0;
    for (let step = 1; ; step++) {
      const fs = faultyFs(nodeFs, {
        steps: ['open', 'write', 'sync', 'link', 'makeFolder'],
        at: step,
        when: step % 2 === 0 ? 'half' : 'before',
        what: fault.what,
        lasting: true,
      });
      const broken = await Store.open(store.dir, storeDeps(fs));
      try {
        await commit(broken, change(`c/d/${step}`, 'y'));
        break;
      } catch (error) {
        expect(error).toMatchObject({ errorName: fault.errorName, code: fault.code });
        expect(String(error)).not.toContain(store.dir);
      }
      failures += 1;
      expect(await git(store.dir, 'rev-parse', store.branch)).toBe(tip);
    }
    // Lock, four objects of a temporary file each, the ref's lock: a loop that injects nothing must not pass.
    expect(failures).toBeGreaterThan(12);
    expect(await fsck(store.dir)).toBe('');
    expect((await commit(store, change('after', 'z'))).seq).toBe(3);
  });

  it('says so for a folder without write permission', async () => {
    if (process.getuid?.() === 0) return;
    await chmod(join(store.dir, 'objects'), 0o555);
    await expect(commit(store, change('a', 'y'))).rejects.toMatchObject({ errorName: 'read_only' });
    await chmod(join(store.dir, 'objects'), 0o755);
  });
});
