import { afterEach, expect, it } from 'vitest';
import { decodeInviteCode } from '../domain/invite-code.js';
import { charterRef } from '../domain/layout.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import { testMesh } from '../testing/mesh-fixture.js';
import type { TestMachine, TestMesh } from '../testing/mesh-fixture.js';
import { isOpen } from './invitations.js';

let mesh: TestMesh;
afterEach(() => mesh.remove());

const call = { connection: { owner: null, agents: new Set<string>() } };
const minute = 60_000;

async function studioWith(...remotes: { name: string; url: string }[]): Promise<TestMachine> {
  mesh = await testMesh('studio');
  const [studio] = mesh.machines;
  if (studio === undefined) throw new Error('no machine');
  await studio.store.saveConfig({ ...studio.store.config, remotes });
  return studio;
}

async function urlOf(studio: TestMachine, input: object = {}): Promise<string> {
  const { code } = await studio.api.invite({ confirm: true, ...input }, call);
  return decodeInviteCode(code ?? '').url;
}

async function failure(work: Promise<unknown>): Promise<MeshError> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  if (error instanceof MeshError) return error;
  throw new Error('no MeshError was thrown');
}

it('a code carries all that the other machine needs, and ends in 15 minutes', async () => {
  const studio = await studioWith({ name: 'origin', url: '/srv/git/team.git' });
  const { config, signer } = studio.store;
  const result = await studio.api.invite({ confirm: true }, call);
  const expires_at = new Date(mesh.clock.now() + 15 * minute).toISOString();
  const key = keyFingerprint(signer.publicKey);
  expect(result).toMatchObject({ preview: false, machine: 'studio', key, mesh: config.mesh, expires_at });
  const { id, secret, ...rest } = decodeInviteCode(result.code ?? '');
  const charter = await studio.store.refs.read(charterRef(config.ref_prefix));
  expect(rest).toEqual({ url: '/srv/git/team.git', mesh: config.mesh.id, charter, name: config.mesh.name, by: 'studio', key, expires: expires_at }); // prettier-ignore
  const created_at = new Date(mesh.clock.now()).toISOString();
  expect(await studio.store.local.invitations()).toEqual([{ id, secret, created_at, expires_at }]);
  expect(result.next).not.toContain(secret);
});

it('a preview makes nothing', async () => {
  const studio = await studioWith({ name: 'origin', url: '/srv/git/team.git' });
  expect(await studio.api.invite({}, call)).toMatchObject({ preview: true, code: null, expires_at: null });
  expect(await studio.store.local.invitations()).toEqual([]);
});

it('an invitation leads to the remote that is named, else to origin, else to the first; without credentials', async () => {
  const share = { name: 'share', url: '//server/share/team.git' };
  const forge = { name: 'forge', url: 'ssh://git@forge.example:22/team.git' };
  const origin = { name: 'origin', url: 'https://ana@git.example/team.git' };
  const studio = await studioWith(share, forge, origin);
  expect(await urlOf(studio)).toBe('https://git.example/team.git');
  expect(await urlOf(studio, { remote: 'forge' })).toBe('ssh://git@forge.example:22/team.git');
  const error = await failure(studio.api.invite({ remote: 'nowhere', confirm: true }, call));
  expect([error.errorName, error.data['known_remotes']]).toEqual(['not_found', ['share', 'forge', 'origin']]);
  await studio.store.saveConfig({ ...studio.store.config, remotes: [share, forge] });
  expect(await urlOf(studio)).toBe('//server/share/team.git');
  await studio.store.saveConfig({ ...studio.store.config, remotes: [] });
  const none = await failure(studio.api.invite({ confirm: true }, call));
  expect([none.errorName, none.message]).toEqual([
    'not_found',
    expect.stringContaining('git mesh remote add NAME URL'),
  ]);
});

it('what has ended is swept by the next invitation, and a clock that was set back ends one too', async () => {
  const studio = await studioWith({ name: 'origin', url: '/srv/git/team.git' });
  await urlOf(studio);
  const [first] = await studio.store.local.invitations();
  if (first === undefined) throw new Error('nothing was kept');
  const now = mesh.clock.now();
  expect([-3, -1, 0, 14, 15].map((minutes) => isOpen(first, now + minutes * minute))).toEqual([false, true, true, true, false]); // prettier-ignore
  mesh.clock.advance(15 * minute);
  await urlOf(studio);
  expect((await studio.store.local.invitations()).map(({ id }) => id)).not.toContain(first.id);
});
