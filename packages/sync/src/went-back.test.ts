import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Problem } from '@git-mesh/core';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;
const time = { now: Date.now() };

beforeEach(async () => {
  time.now = Date.now();
  mesh = await remoteMesh(['studio', 'laptop', 'desk'], { clock: { now: () => time.now } });
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

const onRemote = (...args: string[]): string => mesh.git.git(['-C', mesh.remote, ...args]);
const ref = (handle: string): string => `refs/heads/mesh/${handle}`;
const kinds = (problems: readonly Problem[]): [string, string | undefined][] =>
  problems.map(({ kind, machine }) => [kind, machine]);

/** Laptop has sent, and everybody has it. Gives its tip before. */
async function moveOn(): Promise<string> {
  const before = laptop.tip();
  await laptop.send('*', 'more');
  await settle(mesh.peers);
  return before;
}

test.each(['rewound', 'deleted'])(
  'a branch that was %s at the remote is named by those who had it, is put back, and is told of for a day',
  async (what) => {
    const before = await moveOn();
    const tip = laptop.tip();
    onRemote('update-ref', ...(what === 'rewound' ? [ref('laptop'), before] : ['-d', ref('laptop')]));
    for (const peer of [studio, laptop]) {
      if (peer === laptop)
        onRemote('update-ref', ...(what === 'rewound' ? [ref('laptop'), before] : ['-d', ref('laptop')]));
      await peer.sync();
      expect(onRemote('rev-parse', ref('laptop'))).toBe(tip);
      // Another process knows it too.
      const later = await Peer.open(mesh.git, peer.store.dir, { clock: peer.clock });
      const { problems } = await later.status();
      expect(kinds(problems)).toEqual([['branch_rewound', 'laptop']]);
      expect(problems[0]?.message).toContain(tip.slice(0, 10));
      expect(problems[0]?.message).toContain('remote origin');
      expect(problems[0]?.message).toContain('it was there again');
      if (what === 'rewound') expect(problems[0]?.message).toContain(before.slice(0, 10));
      expect(kinds((await later.api.doctor()).problems)).toEqual([['branch_rewound', 'laptop']]);
      expect(kinds((await later.api.agents({}, later.call())).problems ?? [])).toEqual([['branch_rewound', 'laptop']]);
    }
    await settle(mesh.peers);
    expect(kinds((await studio.status()).problems)).toEqual([['branch_rewound', 'laptop']]);
    time.now += 25 * 3_600_000;
    await studio.sync();
    expect(kinds((await studio.status()).problems)).toEqual([]);
  },
);

test('what a remote never had more of, or what its machine mended itself, went back nowhere', async () => {
  const before = await moveOn();
  // Foreign commits on top, which its machine takes off again.
  const foreign = await laptop.forge({ sign: false });
  laptop.forcePush(mesh.remote, foreign);
  await studio.sync();
  onRemote('update-ref', ref('laptop'), laptop.tip());
  await studio.sync();
  expect(kinds((await studio.status()).problems)).toEqual([]);
  // Another remote that is behind, or lacks the branch.
  const second = mesh.git.bare('second.git');
  desk.git('push', '--quiet', second, `${before}:${ref('laptop')}`, `refs/heads/mesh/_charter`);
  const remotes = [...studio.store.config.remotes, { name: 'second', url: second }];
  await studio.store.editConfig((config) => ({ ...config, remotes }));
  const later = await Peer.open(mesh.git, studio.store.dir, { clock: studio.clock });
  await later.sync();
  await later.sync();
  expect(kinds((await later.status()).problems)).toEqual([]);
});

test('a repository that was put back from a backup, or emptied, is one problem', async () => {
  const tips = ['studio', 'laptop', 'desk'].map((handle) => [ref(handle), onRemote('rev-parse', ref(handle))]);
  for (const peer of mesh.peers) await peer.send('*', 'more');
  await settle(mesh.peers);
  for (const [name = '', tip = ''] of tips) onRemote('update-ref', name, tip);
  await studio.sync();
  expect(kinds((await studio.status()).problems)).toEqual([['remote_rewound', undefined]]);
  await settle(mesh.peers);
  for (const [name = ''] of [...tips, [ref('_charter')]]) onRemote('update-ref', '-d', name);
  await desk.sync();
  expect(kinds((await desk.status()).problems).filter(([kind]) => kind !== 'remote_rewound')).toEqual([]);
  expect((await desk.status()).problems.at(-1)?.message).toContain('was emptied or made anew');
});

test('a charter that was deleted at the remote is put back, and told of', async () => {
  const founded = onRemote('rev-parse', ref('_charter'));
  onRemote('update-ref', '-d', ref('_charter'));
  await laptop.sync();
  expect(onRemote('rev-parse', ref('_charter'))).toBe(founded);
  const { problems } = await laptop.status();
  expect(kinds(problems)).toEqual([['branch_rewound', '_charter']]);
  expect(problems[0]?.message).toContain('was deleted');
});
