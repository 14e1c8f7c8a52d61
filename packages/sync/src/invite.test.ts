import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, admitInvited, decodeInviteCode, encodeInviteCode, silentLogger } from '@git-mesh/core';
import type { InviteCode, MembershipResult } from '@git-mesh/core';
import { afterEach, describe, expect, it } from 'vitest';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { GitFixture } from './testing/git-fixture.js';
import { Peer } from './testing/remote-mesh.js';

let git = new GitFixture();
afterEach(() => {
  git.remove();
});

const setup = (machine: string): Parameters<typeof initMesh>[0] & { machine: string } => ({
  dir: git.path(machine),
  env: process.env,
  logger: silentLogger,
  machine,
  hostname: machine,
});

/** The clock of the inviter, which stands. */
let now = 0;
const clock = { now: () => now };
const minute = 60_000;

async function founded(policy: 'open' | 'roster' = 'roster'): Promise<Peer> {
  git = new GitFixture();
  now = Date.now();
  await initMesh({ ...setup('studio'), remote: git.bare('team.git'), policy });
  return Peer.open(git, git.path('studio'), { clock });
}

async function invited(studio: Peer): Promise<string> {
  const { code } = await studio.api.invite({ confirm: true }, studio.call());
  if (code === null) throw new Error('no code came');
  return code;
}

const joined = (machine: string, code: string): Promise<MembershipResult> => joinMesh({ ...setup(machine), url: code });
const admissions = (studio: Peer): string[] =>
  studio
    .git('log', '--format=%s', '--grep=^Mesh-Event: roster$', 'refs/heads/mesh/studio')
    .split('\n')
    .filter((line) => line !== '');
const roster = (repository: string, branch = 'studio'): string =>
  git.git(['-C', repository, 'ls-tree', '-r', '--name-only', `refs/heads/mesh/${branch}`, 'roster/']);
const stored = (): { invitations: { used?: { handle: string } }[] } =>
  JSON.parse(readFileSync(git.path('studio', 'mesh', 'invites.json'), 'utf8')) as ReturnType<typeof stored>;

async function failure(work: Promise<unknown>): Promise<MeshError> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    return error as MeshError;
  }
  throw new Error('nothing was thrown');
}

/** The code with something in it changed, as somebody who carries it could. */
const altered = (code: string, change: Partial<InviteCode>): string =>
  encodeInviteCode({ ...decodeInviteCode(code), ...change });

describe('an invitation', () => {
  it('admits who joins by it, in one round of the inviter that also pushes it', async () => {
    const studio = await founded();
    const code = await invited(studio);
    if (process.platform !== 'win32')
      expect(statSync(git.path('studio', 'mesh', 'invites.json')).mode & 0o777).toBe(0o600);
    const result = await joined('laptop', code);
    expect(result.invited).toEqual({ by: 'studio', policy: 'roster', admitted: false });
    await studio.sync();
    const key = git.git(['-C', git.path('team.git'), 'show', 'refs/heads/mesh/laptop:machine.yaml']);
    const statement = git.git(['-C', git.path('team.git'), 'show', 'refs/heads/mesh/studio:roster/laptop.yaml']);
    expect(key).toContain(/^key: .*$/m.exec(statement)?.[0]);
    expect(admissions(studio)).toEqual([expect.stringMatching(/^roster admit laptop SHA256:/)]);
    await studio.sync();
    const laptop = await Peer.open(git, git.path('laptop'));
    await laptop.sync();
    await studio.sync();
    expect(admissions(studio)).toHaveLength(1);
    expect(roster(git.path('laptop'), 'laptop')).toBe('');
    // Once it has ended nothing of it is kept.
    now += 16 * minute;
    await studio.sync();
    expect(() => stored()).toThrow('ENOENT');
  });

  it('says so where the admission has come by the time the join ends', async () => {
    const studio = await founded('open');
    const code = await invited(studio);
    const half = { ...setup('laptop'), url: code };
    await joinMesh(half);
    await studio.sync();
    // As an interrupted join does it again: the remote was never heard of.
    rmSync(git.path('laptop', 'mesh', 'remotes'), { recursive: true });
    expect((await joinMesh(half)).invited).toEqual({ by: 'studio', policy: 'open', admitted: true });
  });

  it('admits nobody else: neither a second one, nor the other way round in one round', async () => {
    const studio = await founded();
    const code = await invited(studio);
    await joined('laptop', code);
    await joined('desk', code);
    await studio.sync();
    await joined('lab', code);
    await studio.sync();
    expect(admissions(studio)).toEqual([expect.stringContaining('admit desk')]);
    expect(stored().invitations.map(({ used }) => used?.handle)).toEqual(['desk']);
  });

  it('is over after 15 minutes by the inviter’s clock, or where that was set back', async () => {
    const studio = await founded();
    await joined('laptop', await invited(studio));
    now += 15 * minute;
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    await joined('lab', altered(await invited(studio), {}));
    now -= 30 * minute;
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
  });

  it('cannot be used once it has ended, and the joiner is told before anything is made', async () => {
    const studio = await founded();
    now -= 20 * minute;
    const code = await invited(studio);
    const error = await failure(joined('laptop', code));
    expect(error.errorName).toBe('forbidden');
    expect(() => statSync(git.path('laptop'))).toThrow('ENOENT');
  });

  it.each([
    ['another secret', { secret: `${'A'.repeat(42)}A` }],
    ['another id', { id: 'AAAABBBBCCCCDDDD' }],
  ])('with %s admits nobody', async (_what, change) => {
    const studio = await founded();
    await joined('laptop', altered(await invited(studio), change));
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    expect(stored().invitations).toEqual([expect.not.objectContaining({ used: expect.anything() as unknown })]);
  });

  it('is not joined by where the mesh or the inviter’s key is another, and nothing is left', async () => {
    const studio = await founded();
    const code = await invited(studio);
    const { secret, mesh } = decodeInviteCode(code);
    const cases: [Partial<InviteCode>, string][] = [
      [{ mesh: `${mesh.slice(0, -1)}${mesh.endsWith('0') ? '1' : '0'}` as typeof mesh }, 'different_mesh'],
      [{ key: `SHA256:${'A'.repeat(43)}` }, 'forbidden'],
      [{ by: 'nobody' as InviteCode['by'] }, 'forbidden'],
    ];
    for (const [change, errorName] of cases) {
      const error = await failure(joined('laptop', altered(code, change)));
      expect(error.errorName).toBe(errorName);
      expect(JSON.stringify([error.message, error.data])).not.toContain(secret);
      expect(() => statSync(git.path('laptop'))).toThrow('ENOENT');
    }
    expect(git.refs(git.path('team.git')).size).toBe(3);
  });
});

describe('a proof', () => {
  /** laptop's claim as `thief`, which has no code, states it in its own `machine.yaml` (with `key` in place of its own). */
  async function stolen(change: (own: string, copied: string) => string): Promise<{ studio: Peer; thief: Peer }> {
    const studio = await founded();
    const code = await invited(studio);
    await joined('laptop', code);
    await joinMesh({ ...setup('thief'), url: git.path('team.git') });
    const thief = await Peer.open(git, git.path('thief'));
    const copied = git.git(['-C', git.path('team.git'), 'show', 'refs/heads/mesh/laptop:machine.yaml']);
    const own = thief.git('show', `${thief.store.branch}:machine.yaml`);
    const branch = await thief.mesh.branches.ownBranch();
    const tip = await thief.forge({ tree: thief.treeWith('machine.yaml', change(own, copied)), parents: [branch.tip] });
    thief.forcePush(git.path('team.git'), tip);
    // The joiner itself is not there to use it up.
    git.git(['-C', git.path('team.git'), 'update-ref', '-d', 'refs/heads/mesh/laptop']);
    await studio.sync();
    return { studio, thief };
  }
  const claim = (text: string): string => text.slice(text.indexOf('invite:'));

  it('that is copied onto another machine proves nothing there', async () => {
    const { studio } = await stolen((own, copied) => `${own}\n${claim(copied)}\n`);
    expect(studio.git('show', 'refs/heads/mesh/thief:machine.yaml')).toContain('proof:');
    expect(admissions(studio)).toEqual([]);
  });

  it('that is copied with its key is still of another handle', async () => {
    const { studio } = await stolen((_own, copied) => `${copied.replace('handle: laptop', 'handle: thief')}\n`);
    expect(studio.git('show', 'refs/remotes/origin/mesh/thief:machine.yaml')).toContain('proof:');
    expect(admissions(studio)).toEqual([]);
  });

  it('is of no use for a handle that has another key already', async () => {
    const studio = await founded('open');
    await joinMesh({ ...setup('laptop'), url: git.path('team.git') });
    await studio.sync();
    const code = await invited(studio);
    git.git(['-C', git.path('team.git'), 'update-ref', '-d', 'refs/heads/mesh/laptop']);
    await joinMesh({ ...setup('laptop'), dir: git.path('other'), url: code });
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    expect(stored().invitations[0]?.used).toBeUndefined();
  });
});

describe('the inviter', () => {
  it('admits once where two of its processes find the joiner at once', async () => {
    const studio = await founded();
    const again = await Peer.open(git, git.path('studio'), { clock });
    await joined('laptop', await invited(studio));
    await Promise.all([studio.sync(), again.sync(), studio.sync(), again.sync()]);
    expect(admissions(studio)).toHaveLength(1);
  });

  it.each([0, 20])(
    'makes up for an admission that a crash kept from being stated, %i minutes later',
    async (minutes) => {
      const studio = await founded();
      await joined('laptop', await invited(studio));
      const died = new Error('killed');
      const { objects } = studio.store;
      const write = objects.write.bind(objects);
      objects.write = () => Promise.reject(died);
      await expect(studio.sync()).rejects.toBe(died);
      objects.write = write;
      expect(stored().invitations[0]?.used?.handle).toBe('laptop');
      expect(admissions(studio)).toEqual([]);
      now += minutes * minute;
      const later = await Peer.open(git, git.path('studio'), { clock });
      await later.sync();
      expect(admissions(later)).toEqual([expect.stringContaining('admit laptop')]);
      expect(roster(git.path('team.git'))).toBe('roster/laptop.yaml');
    },
  );

  it('goes on without a damaged list, which doctor names', async () => {
    const studio = await founded();
    await joined('laptop', await invited(studio));
    writeFileSync(join(studio.store.dir, 'mesh', 'invites.json'), '{"invitations":[{"id":');
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    const { problems } = await studio.api.doctor();
    expect(problems).toEqual([expect.objectContaining({ kind: 'local_state_damaged', path: 'mesh/invites.json' })]);
    await invited(studio);
    expect((await studio.api.doctor()).problems).toEqual([]);
  });

  it('makes nothing in a preview, and none without a remote', async () => {
    const studio = await founded();
    const { code, preview } = await studio.api.invite({}, studio.call());
    expect([code, preview]).toEqual([null, true]);
    expect(() => stored()).toThrow('ENOENT');
    const other = await failure(studio.api.invite({ remote: 'share', confirm: true }, studio.call()));
    expect([other.errorName, other.data['known_remotes']]).toEqual(['not_found', ['origin']]);
    await initMesh(setup('alone'));
    const alone = await Peer.open(git, git.path('alone'));
    expect((await failure(alone.api.invite({ confirm: true }, alone.call()))).message).toContain('git mesh remote add');
    await admitInvited(alone.mesh);
  });
});
