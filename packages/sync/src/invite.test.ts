import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, decodeInviteCode, encodeInviteCode, silentLogger } from '@git-mesh/core';
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

const remote = (): string => git.path('team.git');
const joined = (machine: string, code: string): Promise<MembershipResult> => joinMesh({ ...setup(machine), url: code });
/** Each as if it had seen nothing of the others. */
async function joinedApart(machines: readonly string[], code: string): Promise<void> {
  const tips = new Map<string, string>();
  for (const machine of machines) {
    await joined(machine, code);
    const ref = `refs/heads/mesh/${machine}`;
    tips.set(ref, git.git(['-C', remote(), 'rev-parse', ref]).trim());
    git.git(['-C', remote(), 'update-ref', '-d', ref]);
  }
  for (const [ref, tip] of tips) git.git(['-C', remote(), 'update-ref', ref, tip]);
}
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
  it('admits who joins by it, in one round of the inviter that also pushes it, and nobody after that', async () => {
    const studio = await founded();
    const code = await invited(studio);
    if (process.platform !== 'win32') {
      expect(statSync(git.path('studio', 'mesh', 'invites.json')).mode & 0o777).toBe(0o600);
    }
    const { invited: before } = await joined('laptop', code);
    expect(before).toEqual({ by: 'studio', policy: 'roster', admitted: false });
    await studio.sync();
    const [own, statement] = ['laptop:machine.yaml', 'studio:roster/laptop.yaml'].map((file) =>
      git.git(['-C', remote(), 'show', `refs/heads/mesh/${file}`]),
    );
    expect(own).toContain(/^key: .*$/m.exec(statement ?? '')?.[0]);
    expect(admissions(studio)).toEqual([expect.stringMatching(/^roster admit laptop SHA256:/)]);
    // As an interrupted join does it again: the remote was never heard of.
    rmSync(git.path('laptop', 'mesh', 'remotes'), { recursive: true });
    expect((await joined('laptop', code)).invited).toEqual({ by: 'studio', policy: 'roster', admitted: true });
    const late = await failure(joined('desk', code));
    expect([late.errorName, late.data['used_by']]).toEqual(['forbidden', 'laptop']);
    expect(late.message).toMatch(/^The invitation of studio has been used: laptop joined by it/);
    expect(existsSync(git.path('desk'))).toBe(false);
    await studio.sync();
    expect(admissions(studio)).toHaveLength(1);
    expect(stored().invitations.map(({ used }) => used?.handle)).toEqual(['laptop']);
    expect(roster(git.path('laptop'), 'laptop')).toBe('');
    // Once it has ended nothing of it is kept.
    now += 16 * minute;
    await studio.sync();
    expect(() => stored()).toThrow('ENOENT');
  });

  it('that another machine joined by is refused, whoever of the two the inviter meant', async () => {
    const studio = await founded();
    const code = await invited(studio);
    await joined('desk', code);
    const refused = await failure(joined('laptop', code));
    expect(refused.errorName).toBe('forbidden');
    expect(refused.message).toMatch(
      /^desk has joined by this invitation of studio already, .* tell studio that somebody else/,
    );
    expect(existsSync(git.path('laptop'))).toBe(false);
    await studio.sync();
    expect(admissions(studio)).toEqual([expect.stringMatching(/^roster admit desk /)]);
  });

  it('by which two machines came at once admits neither, for good, and the inviter is told their keys', async () => {
    const studio = await founded();
    const code = await invited(studio);
    await joinedApart(['laptop', 'desk'], code);
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    const told = (await studio.status()).problems.filter(({ kind }) => kind === 'invitation_contested');
    expect(told).toMatchObject([
      { machine: 'studio', fix: expect.stringContaining('git mesh admit MACHINE') as string },
    ]);
    expect(told[0]?.message).toMatch(
      /desk \(key SHA256:\S+\) and laptop \(key SHA256:\S+\) joined by it: none of them is/,
    );
    // Whoever can push can take the other's branch away.
    git.git(['-C', remote(), 'update-ref', '-d', 'refs/heads/mesh/laptop']);
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    await studio.api.admit({ machine: 'desk', confirm: true }, studio.call());
    expect(admissions(studio)).toEqual([expect.stringMatching(/^roster admit desk /)]);
    const laptop = await Peer.open(git, git.path('laptop'), { clock });
    await studio.sync();
    await laptop.sync();
    const waits = (await laptop.status()).problems.find(({ kind }) => kind === 'not_admitted');
    expect(waits?.message).toMatch(/The invitation by which it joined admitted desk, and admits nobody else$/);
    expect(waits?.fix).toContain('have a member run git mesh admit laptop');
    now += 25 * 60 * minute;
    await studio.sync();
    expect(() => stored()).toThrow('ENOENT');
  });

  it('of a machine that left or was revoked is not joined by', async () => {
    const studio = await founded();
    const join = async (machine: string): Promise<Peer> => {
      await joined(machine, await invited(studio));
      await studio.sync();
      const peer = await Peer.open(git, git.path(machine), { clock });
      await peer.sync();
      return peer;
    };
    const [laptop, desk] = [await join('laptop'), await join('desk')];
    const [ofLaptop, ofDesk] = [await invited(laptop), await invited(desk)];
    await laptop.api.leave({ confirm: true }, laptop.call());
    await laptop.sync();
    await studio.api.revoke({ machine: 'desk', confirm: true }, studio.call());
    await studio.sync();
    for (const [code, words] of [
      [ofLaptop, /laptop left the mesh/],
      [ofDesk, /desk was revoked by studio/],
    ] as const) {
      const error = await failure(joined('tower', code));
      expect([error.errorName, error.message]).toEqual(['forbidden', expect.stringMatching(words)]);
      expect(existsSync(git.path('tower'))).toBe(false);
    }
  });

  it('is not told as used on the word of a machine that has not its secret', async () => {
    const studio = await founded();
    const code = await invited(studio);
    await joined('thief', altered(code, { secret: 'A'.repeat(43) }));
    await studio.sync();
    await studio.api.admit({ machine: 'thief', confirm: true }, studio.call());
    await studio.sync();
    expect((await joined('laptop', code)).machine).toBe('laptop');
  });

  it('admits nobody with another secret or id, nor after its 15 minutes by the inviter’s clock', async () => {
    const studio = await founded();
    const code = await invited(studio);
    await joined('desk', altered(code, { secret: 'A'.repeat(43) }));
    await joined('lab', altered(code, { id: 'AAAABBBBCCCCDDDD' }));
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    expect(stored().invitations[0]?.used).toBeUndefined();
    await joined('laptop', code);
    now += 14 * minute;
    // Another one is under way still.
    await invited(studio);
    now += minute;
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
  });

  it('is not joined by where it has ended, or the mesh or the inviter’s key is another; nothing is left', async () => {
    const studio = await founded();
    const code = await invited(studio);
    const { secret, mesh } = decodeInviteCode(code);
    const cases: [Partial<InviteCode>, string][] = [
      [{ expires: new Date(now).toISOString() }, 'forbidden'],
      [{ mesh: `${mesh.slice(0, -1)}${mesh.endsWith('0') ? '1' : '0'}` as typeof mesh }, 'different_mesh'],
      [{ key: `SHA256:${'A'.repeat(43)}` }, 'forbidden'],
      [{ by: 'nobody' as InviteCode['by'] }, 'forbidden'],
      [{ url: '--upload-pack=touch' }, 'invalid_argument'],
      [{ url: 'ext::sh -c true' }, 'invalid_argument'],
    ];
    for (const [change, errorName] of cases) {
      const error = await failure(joined('laptop', altered(code, change)));
      expect(error.errorName).toBe(errorName);
      expect(JSON.stringify([error.message, error.data])).not.toContain(secret);
      expect(() => statSync(git.path('laptop'))).toThrow('ENOENT');
    }
    expect(git.refs(remote()).size).toBe(3);
  });
});

describe('a proof', () => {
  it('that is copied onto another machine, or with its key onto another handle, proves nothing', async () => {
    const studio = await founded();
    await joined('laptop', await invited(studio));
    await joinMesh({ ...setup('thief'), url: remote() });
    const thief = await Peer.open(git, git.path('thief'));
    const copied = git.git(['-C', remote(), 'show', 'refs/heads/mesh/laptop:machine.yaml']);
    const own = thief.git('show', `${thief.store.branch}:machine.yaml`);
    // The joiner itself is not there to use the invitation up.
    git.git(['-C', remote(), 'update-ref', '-d', 'refs/heads/mesh/laptop']);
    const claims = [
      `${own}\n${copied.slice(copied.indexOf('invite:'))}\n`,
      `${copied.replace('handle: laptop', 'handle: thief')}\n`,
    ];
    for (const claim of claims) {
      thief.forcePush(remote(), await thief.forge({ tree: thief.treeWith('machine.yaml', claim) }));
      await studio.sync();
      expect(`${studio.git('show', 'refs/remotes/origin/mesh/thief:machine.yaml')}\n`).toBe(claim);
      expect(admissions(studio)).toEqual([]);
    }
    expect(stored().invitations[0]?.used).toBeUndefined();
  });

  it('is of no use for a handle that has another key already', async () => {
    const studio = await founded('open');
    await joinMesh({ ...setup('laptop'), url: remote() });
    await studio.sync();
    const code = await invited(studio);
    git.git(['-C', remote(), 'update-ref', '-d', 'refs/heads/mesh/laptop']);
    await joinMesh({ ...setup('laptop'), dir: git.path('other'), url: code });
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    expect(stored().invitations[0]?.used).toBeUndefined();
  });
});

describe('the inviter', () => {
  it('admits a machine once where two of its processes find it at once', async () => {
    const studio = await founded();
    const again = await Peer.open(git, git.path('studio'), { clock });
    await joined('laptop', await invited(studio));
    await Promise.all([studio.sync(), again.sync(), studio.sync(), again.sync()]);
    expect(admissions(studio)).toEqual([expect.stringContaining('admit laptop')]);
  });

  it('admits nobody where two have the code and two of its processes find them at once', async () => {
    const studio = await founded();
    const again = await Peer.open(git, git.path('studio'), { clock });
    await joinedApart(['laptop', 'desk'], await invited(studio));
    await Promise.all([studio.sync(), again.sync(), studio.sync(), again.sync()]);
    expect(admissions(studio)).toEqual([]);
  });

  it('makes up for an admission that a crash kept from being stated, though the invitation ended meanwhile', async () => {
    const studio = await founded();
    await joined('laptop', await invited(studio));
    const died = new Error('killed');
    const write = studio.store.objects.write.bind(studio.store.objects);
    // What was fetched is written in the same way.
    studio.store.objects.write = (objects) =>
      objects.some(({ data }) => Buffer.from(data).includes('admit laptop')) ? Promise.reject(died) : write(objects);
    await expect(studio.sync()).rejects.toBe(died);
    expect(stored().invitations[0]?.used?.handle).toBe('laptop');
    expect(admissions(studio)).toEqual([]);
    now += 20 * minute;
    const later = await Peer.open(git, git.path('studio'), { clock });
    await later.sync();
    expect(admissions(later)).toEqual([expect.stringContaining('admit laptop')]);
    expect(roster(remote())).toBe('roster/laptop.yaml');
  });

  it('goes on without a damaged list, which doctor names', async () => {
    const studio = await founded();
    await joined('laptop', await invited(studio));
    writeFileSync(join(studio.store.dir, 'mesh', 'invites.json'), '{"invitations":[{"id":');
    await studio.sync();
    expect(admissions(studio)).toEqual([]);
    const problems = async (): Promise<string[]> =>
      (await studio.api.doctor()).problems.map(({ kind, path = '' }) => `${kind} ${path}`);
    expect(await problems()).toEqual(['not_admitted ', 'local_state_damaged mesh/invites.json']);
    await invited(studio);
    expect(await problems()).toEqual(['not_admitted ']);
  });
});

describe('what is committed of a new machine for good', () => {
  const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5'].join('_');

  it('holds no credential and no invitation: nothing is made where its label or the mesh’s name is one', async () => {
    const studio = await founded('open');
    const code = await invited(studio);
    for (const label of [token, code, `see ${code}`]) {
      for (const work of [
        () => joinMesh({ ...setup('laptop'), url: remote(), label }),
        () => initMesh({ ...setup('laptop'), label }),
      ]) {
        const { errorName, data, message } = await failure(work());
        expect([errorName, data['place']]).toEqual(['secret_found', 'label']);
        expect(message).not.toContain(label);
        expect(existsSync(git.path('laptop'))).toBe(false);
      }
    }
    const named = await failure(initMesh({ ...setup('laptop'), remote: git.bare(`${token}.git`) }));
    expect(named.errorName).toBe('secret_found');
    expect(existsSync(git.path('laptop'))).toBe(false);
  });

  it('is one line that shows what it says', async () => {
    git = new GitFixture();
    for (const label of ['two\nlines', 'a\u202eb', 'x'.repeat(201), '\u001b[2J']) {
      expect((await failure(initMesh({ ...setup('laptop'), label }))).data['argument']).toBe('label');
    }
  });
});
