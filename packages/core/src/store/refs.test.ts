import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Oid, RefName } from '../domain/ids.js';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { nodeFs } from './node-fs.js';
import { isRefName } from './ref-name-check.js';
import { StoreRefs } from './refs.js';

const ref = (name: string): RefName => name as RefName;
const mine = ref('refs/heads/mesh/studio');

const { store } = storeForEach();
let refs: StoreRefs;
let one: Oid;
let two: Oid;
beforeEach(async () => {
  refs = new StoreRefs(nodeFs, store.dir);
  const [tree = ''] = await store.objects.write([{ type: 'tree', data: new Uint8Array() }]);
  const person = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
  one = (await git(store.dir, ...person, 'commit-tree', tree, '-m', 'one')) as Oid;
  two = (await git(store.dir, ...person, 'commit-tree', tree, '-m', 'two')) as Oid;
});

describe('a ref', () => {
  it('is made, moved and deleted as stock git sees it', async () => {
    expect(await refs.read(mine)).toBeNull();
    await refs.update(mine, { expected: null, next: one });
    expect(await git(store.dir, 'rev-parse', mine)).toBe(one);
    await refs.update(mine, { expected: one, next: two });
    expect(await git(store.dir, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(`${mine} ${two}`);
    await refs.update(mine, { expected: two, next: null });
    expect(await git(store.dir, 'for-each-ref')).toBe('');
    expect(await fsck(store.dir)).toBe('');
  });

  it('moves only from where it is expected', async () => {
    await refs.update(mine, { expected: null, next: one });
    for (const expected of [null, two]) {
      const moved = refs.update(mine, { expected, next: two });
      await expect(moved).rejects.toMatchObject({ errorName: 'conflict', data: { current: one } });
    }
    expect(await refs.read(mine)).toBe(one);
    expect(await readdir(join(store.dir, 'refs/heads/mesh'))).toEqual(['studio']);
  });

  it('goes to one of many who move it at once', async () => {
    await refs.update(mine, { expected: null, next: one });
    const all = Array.from({ length: 8 }, () =>
      new StoreRefs(nodeFs, store.dir).update(mine, { expected: one, next: two }),
    );
    const results = await Promise.allSettled(all);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ errorName: 'conflict' });
    }
  });

  it('is found, moved and deleted where stock git packed it', async () => {
    const others = ['a', 'b'].map((name) => ref(`refs/heads/mesh/${name}`));
    for (const name of [mine, ...others]) await refs.update(name, { expected: null, next: one });
    await git(store.dir, '-c', 'user.name=x', '-c', 'user.email=x@y', 'tag', '-a', '-m', 'x', 'v1', one);
    await git(store.dir, 'pack-refs', '--all');
    expect(await refs.read(mine)).toBe(one);
    await refs.update(mine, { expected: one, next: two });
    expect(await git(store.dir, 'rev-parse', mine)).toBe(two);
    await refs.update(mine, { expected: two, next: null });
    expect(await refs.read(mine)).toBeNull();
    expect(await git(store.dir, 'for-each-ref', '--format=%(refname)')).toBe([...others, 'refs/tags/v1'].join('\n'));
    expect(await git(store.dir, 'rev-parse', 'v1^{commit}')).toBe(one);
    expect(await fsck(store.dir)).toBe('');
  });

  it('never seems to go back or away while stock git packs refs', async () => {
    await refs.update(mine, { expected: null, next: one });
    const packing = new AbortController();
    const pack = (async (): Promise<void> => {
      for (let n = 0; n < 15; n++) {
        await git(store.dir, 'pack-refs', '--all');
        await git(store.dir, 'update-ref', mine, n % 2 === 0 ? two : one);
      }
    })().finally(() => {
      packing.abort();
    });
    while (!packing.signal.aborted) expect([one, two]).toContain(await refs.read(mine));
    await pack;
  });

  it('is listed with its siblings, loose and packed, without what git would refuse', async () => {
    await refs.update(mine, { expected: null, next: one });
    await refs.update(ref('refs/heads/mesh/a'), { expected: null, next: one });
    await git(store.dir, 'pack-refs', '--all');
    await refs.update(mine, { expected: one, next: two });
    await refs.update(ref('refs/heads/other'), { expected: null, next: one });
    await writeFile(join(store.dir, 'refs/heads/mesh/a.lock'), '');
    await writeFile(join(store.dir, 'refs/heads/mesh/.hidden'), `${one}\n`);
    expect(await refs.list('refs/heads/mesh/')).toEqual([
      { ref: 'refs/heads/mesh/a', oid: one },
      { ref: mine, oid: two },
    ]);
    expect((await refs.list('refs/heads/mesh/st')).map((found) => found.ref)).toEqual([mine]);
    expect(await refs.list('refs/heads/nothing/')).toEqual([]);
    expect(await refs.list('refs/../')).toEqual([]);
    expect(await refs.list('')).toHaveLength(3);
  });

  it('may be symbolic, but not in a circle', async () => {
    await refs.update(mine, { expected: null, next: one });
    await git(store.dir, 'symbolic-ref', 'refs/heads/s', mine);
    expect(await refs.read(ref('refs/heads/s'))).toBe(one);
    await writeFile(join(store.dir, 'refs/heads/x'), 'ref: refs/heads/x\n');
    await expect(refs.read(ref('refs/heads/x'))).rejects.toMatchObject({ errorName: 'store_damaged' });
  });

  it.each(['', '\0'.repeat(41), 'zzzz\n'])(
    'that holds %j is reported with its name and the way out',
    async (content) => {
      await mkdir(join(store.dir, 'refs/heads/mesh'), { recursive: true });
      await writeFile(join(store.dir, mine), content);
      await expect(refs.read(mine)).rejects.toMatchObject({
        errorName: 'store_damaged',
        message: expect.stringMatching(/refs\/heads\/mesh\/studio.*git update-ref/s) as string,
      });
    },
  );

  it('that would be a file and a folder at once is refused, loose or packed', async () => {
    await refs.update(mine, { expected: null, next: one });
    const inTheWay = async (): Promise<void> => {
      for (const name of [ref(`${mine}/deeper`), ref('refs/heads/mesh')]) {
        const made = refs.update(name, { expected: null, next: one });
        await expect(made).rejects.toMatchObject({ errorName: 'conflict' });
      }
    };
    await inTheWay();
    await git(store.dir, 'pack-refs', '--all');
    await inTheWay();
    expect(await git(store.dir, 'for-each-ref', '--format=%(refname)')).toBe(mine);
  });

  it('takes the place of folders that are left empty', async () => {
    await mkdir(join(store.dir, 'refs/heads/mesh/studio/a/b'), { recursive: true });
    await refs.update(mine, { expected: null, next: one });
    expect(await git(store.dir, 'rev-parse', mine)).toBe(one);
  });
});

describe("git's own lock of a ref", () => {
  const lock = (): string => join(store.dir, `${mine}.lock`);
  beforeEach(() => refs.update(mine, { expected: null, next: one }));

  it('is waited for, and then the ref is locked', async () => {
    await writeFile(lock(), '');
    const moved = refs.update(mine, { expected: one, next: two });
    await expect(moved).rejects.toMatchObject({ errorName: 'locked', code: 423 });
    expect(existsSync(lock())).toBe(true);
    expect(await refs.read(mine)).toBe(one);
  });

  it('is removed once it is older than 10 minutes', async () => {
    await writeFile(lock(), '');
    const old = new Date(Date.now() - 11 * 60_000);
    await utimes(lock(), old, old);
    await refs.update(mine, { expected: one, next: two });
    expect(await refs.read(mine)).toBe(two);
    expect(existsSync(lock())).toBe(false);
  });
});

describe('a ref name', () => {
  it.each(['refs/heads/mesh/studio', 'refs/heads/mesh/_charter', 'refs/remotes/origin/x', 'refs/mesh/a.b'])(
    'may be %j',
    (name) => {
      expect(isRefName(name)).toBe(true);
    },
  );

  it.each([
    '',
    'HEAD',
    'refs/heads',
    'heads/x',
    'refs/heads/',
    'refs//x',
    'refs/heads/../x',
    'refs/heads/.x',
    'refs/heads/x.',
    'refs/heads/x.lock',
    'refs/heads/x.LOCK/y',
    'refs/heads/a b',
    'refs/heads/a\nb',
    'refs/heads/a~1',
    'refs/heads/a^',
    'refs/heads/a:b',
    'refs/heads/a?',
    'refs/heads/a*',
    'refs/heads/a[',
    'refs/heads/a\\b',
    'refs/heads/a@{1}',
    'refs/heads/\u007f',
  ])('may not be %j', async (name) => {
    expect(isRefName(name)).toBe(false);
    await expect(refs.update(name as RefName, { expected: null, next: one })).rejects.toMatchObject({
      errorName: 'invalid_argument',
    });
  });
});
