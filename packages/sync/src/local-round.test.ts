import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CountedGit } from './testing/counted-git.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

describe.skipIf(process.platform === 'win32')('a round with a repository at a path', () => {
  let mesh: RemoteMesh;
  let git: CountedGit;
  let studio: Peer;
  let laptop: Peer;
  let desk: Peer;

  beforeEach(async () => {
    mesh = await remoteMesh(['studio', 'laptop', 'desk']);
    const [, second, third] = mesh.peers;
    if (second === undefined || third === undefined) throw new Error('three machines were made');
    [laptop, desk] = [second, third];
    git = new CountedGit(mesh.git);
    studio = await Peer.open(mesh.git, mesh.git.path('studio'), { env: git.env });
    await laptop.checkin('builder');
    await studio.checkin('boss');
    await settle([studio, laptop, desk]);
    git.taken();
  });
  afterEach(() => {
    mesh.remove();
  });

  const inbox = (): Promise<unknown[]> => studio.inbox('boss');

  test('that finds nothing new starts no process', async () => {
    await studio.sync();
    expect(git.taken()).toEqual([]);
  });

  test('with a message each way starts one, which takes the push', async () => {
    await laptop.send('studio', 'to studio');
    await laptop.sync();
    await studio.send('laptop', 'to laptop');
    await studio.sync();
    expect(git.taken()).toEqual(['receive-pack']);
    expect(await inbox()).toEqual(['to studio']);
    await laptop.sync();
    expect(await laptop.inbox('builder')).toEqual(['to laptop']);
    expect(studio.git('fsck', '--strict')).toBe('');
  });

  test('takes in several commits of several machines without git', async () => {
    for (const n of [1, 2, 3]) await laptop.send('studio', n);
    await laptop.sync();
    await desk.send('studio', 4);
    await desk.sync();
    await studio.sync();
    expect(git.taken()).toEqual(['receive-pack']);
    expect((await inbox()).sort()).toEqual([1, 2, 3, 4]);
    expect(studio.git('fsck', '--strict')).toBe('');
  });

  test.each([
    ['is packed', () => void mesh.git.git(['-C', mesh.remote, 'gc', '--quiet'])],
    [
      'is damaged where it is loose',
      () => {
        damage();
      },
    ],
  ])('asks git for what %s', async (_what, change) => {
    await laptop.send('studio', 'asked for');
    await laptop.sync();
    change();
    await studio.sync();
    expect(git.taken()[0]).toBe('upload-pack');
  });

  test('asks git for a branch that went on for long', async () => {
    for (let n = 0; n < 40; n++) await laptop.send('studio', n);
    await laptop.sync();
    await studio.sync();
    expect(git.taken()).toEqual(['upload-pack', 'receive-pack']);
    expect(await inbox()).toHaveLength(40);
  });

  test('reads the user’s safe.directory only where a hook runs, or the repository is another user’s', async () => {
    await studio.send('laptop', 1);
    mkdirSync(join(mesh.remote, 'hooks'), { recursive: true });
    const hook = join(mesh.remote, 'hooks', 'post-receive');
    writeFileSync(hook, '#!/bin/sh\nexit 0\n');
    chmodSync(hook, 0o755);
    await studio.sync();
    expect(git.taken().sort()).toEqual(['config', 'config', 'receive-pack']);
    rmSync(hook);
    await studio.send('laptop', 2);
    await studio.sync();
    expect(git.taken()).toEqual(['receive-pack']);
  });

  /** The newest commit's file there is no object any more. */
  function damage(): void {
    const tip = mesh.git.git(['-C', mesh.remote, 'rev-parse', 'refs/heads/mesh/laptop']);
    const file = join(mesh.remote, 'objects', tip.slice(0, 2), tip.slice(2));
    chmodSync(file, 0o644);
    writeFileSync(file, 'nothing');
  }
});
