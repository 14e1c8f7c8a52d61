import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Oid, RefName } from '@git-mesh/core';
import { GitFixture } from '../testing/git-fixture.js';
import { localView } from './local-view.js';

const studio = 'refs/heads/mesh/studio' as RefName;
const laptop = 'refs/heads/mesh/laptop' as RefName;

describe('localView', () => {
  let fixture: GitFixture;
  let remote: string;
  let first: Oid;
  let second: Oid;
  beforeEach(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
    first = fixture.commit(remote, 'one');
    second = fixture.commit(remote, 'two', [first]);
    fixture.setRef(remote, studio, first);
    fixture.setRef(remote, laptop, second);
  });
  afterEach(() => {
    fixture.remove();
  });
  const refFile = (ref: RefName): string => join(remote, ref);

  it('has the refs that git has: in files of their own, packed, and both', async () => {
    expect((await localView(remote))?.refs).toEqual(fixture.refs(remote));
    fixture.git(['-C', remote, 'tag', '-a', '-m', 'tagged', 'v1', first]);
    fixture.git(['-C', remote, 'pack-refs', '--all']);
    expect((await localView(remote))?.refs).toEqual(fixture.refs(remote));
    fixture.setRef(remote, studio, second);
    fixture.setRef(remote, 'refs/heads/other' as RefName, first);
    writeFileSync(`${refFile(laptop)}.lock`, '');
    expect((await localView(remote))?.refs).toEqual(fixture.refs(remote));
  });

  it('gives an object in a file of its own, and none whose content has another id', async () => {
    const view = await localView(remote);
    expect((await view?.read(second))?.type).toBe('commit');
    rmSync(join(remote, 'objects', first.slice(0, 2), first.slice(2)), { force: true });
    expect(await view?.read(first)).toBeNull();
    symlinkSync(
      join(remote, 'objects', second.slice(0, 2), second.slice(2)),
      join(remote, 'objects', first.slice(0, 2), first.slice(2)),
    );
    expect(await view?.read(first)).toBeNull();
  });

  it('gives none out of a pack', async () => {
    fixture.git(['-C', remote, 'repack', '-adq']);
    expect(await (await localView(remote))?.read(second)).toBeNull();
  });

  it.each<[string, () => unknown]>([
    ['is empty', () => fixture.git(['-C', remote, 'update-ref', '--stdin'], `delete ${studio}\ndelete ${laptop}\n`)],
    ['hides refs', () => fixture.git(['-C', remote, 'config', 'transfer.hideRefs', 'refs/heads/mesh'])],
    ['includes another configuration', () => fixture.git(['-C', remote, 'config', 'include.path', '/tmp/other'])],
    ['has extensions', () => fixture.git(['-C', remote, 'config', 'extensions.preciousObjects', 'true'])],
    ['has a format of its own', () => fixture.git(['-C', remote, 'config', 'core.repositoryFormatVersion', '1'])],
    [
      'is shallow',
      () => {
        writeFileSync(join(remote, 'shallow'), `${first}\n`);
      },
    ],
    [
      'has an empty ref',
      () => {
        writeFileSync(refFile(studio), '');
      },
    ],
    [
      'has a ref of another form',
      () => {
        writeFileSync(refFile(studio), 'hello\n');
      },
    ],
    [
      'has a ref to no object',
      () => {
        writeFileSync(refFile(studio), `${'0'.repeat(40)}\n`);
      },
    ],
    ['has a symbolic ref', () => fixture.git(['-C', remote, 'symbolic-ref', 'refs/heads/alias', studio])],
    [
      'has a name git would refuse',
      () => {
        writeFileSync(join(remote, 'refs', 'heads', 'a..b'), `${first}\n`);
      },
    ],
    [
      'has damaged packed refs',
      () => {
        appendFileSync(join(remote, 'packed-refs'), 'hello\n');
      },
    ],
    [
      'has a folder in place of its packed refs',
      () => {
        mkdirSync(join(remote, 'packed-refs'));
      },
    ],
    [
      'has no configuration',
      () => {
        rmSync(join(remote, 'config'));
      },
    ],
  ])('leaves to git a repository that %s', async (_what, change) => {
    change();
    expect(await localView(remote)).toBeNull();
  });

  it.skipIf(process.platform === 'win32')('does not wait at a pipe in place of a ref or an object', async () => {
    const object = join(remote, 'objects', first.slice(0, 2), first.slice(2));
    rmSync(object, { force: true });
    execFileSync('mkfifo', [object]);
    expect(await (await localView(remote))?.read(first)).toBeNull();
    rmSync(refFile(studio));
    execFileSync('mkfifo', [refFile(studio)]);
    expect(await localView(remote)).toBeNull();
  });
});
