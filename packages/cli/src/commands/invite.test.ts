import { encodeInviteCode } from '@git-mesh/core';
import type { InviteCode, InviteResult } from '@git-mesh/core';
import { expect, it } from 'vitest';
import { runStubbed } from '../testing/stub-runtime.js';

const secret = 'A'.repeat(43);
const about = {
  machine: 'studio',
  key: `SHA256:${'a'.repeat(43)}`,
  mesh: { id: '01M8RDA4M0KC773BNQD5BAEVKQ', name: 'team' },
};
// Branded texts that a test writes as they are.
const code = encodeInviteCode({ url: '/srv/git/team.git', mesh: about.mesh.id, charter: '0f1e2d3c4b5a69788796a5b4c3d2e1f001122334', name: 'team', by: 'studio', key: about.key, id: 'AAAABBBBCCCCDDDD', secret, expires: '2026-12-02T05:15:00.000Z' } as InviteCode); // prettier-ignore
const made = { preview: false, ...about, code, expires_at: '2026-12-02T05:15:00.000Z' } as InviteResult;

it('prints the command to type on the other machine on a line of its own, and when it ends', async () => {
  const run = await runStubbed(['invite', '--remote', 'share'], { results: { invite: made } });
  expect(run.calls).toContainEqual(['invite', { confirm: true, remote: 'share' }]);
  expect(run.out.split('\n')).toContain(`git-mesh join ${code}`);
  expect(run.out).toContain('within 15 minutes (until 2026-12-02T05:15:00.000Z)');
  expect(run.out).toContain(`studio, ${about.key}`);
  expect(run.err).toBe('');
});

it('previews with --dry-run', async () => {
  const next = 'Nothing has changed. Call agent_mesh_invite again with confirm: true to make an invitation.';
  const preview = { preview: true, ...about, code: null, expires_at: null, next };
  const run = await runStubbed(['invite', '--dry-run'], { results: { invite: preview } });
  expect(run.calls).toContainEqual(['invite', { confirm: false }]);
  expect(run.out).toBe('Would make an invitation to the mesh team from studio.\nNothing has changed. Run it again without --dry-run to make an invitation.\n'); // prettier-ignore
});

it('join takes a code as it is, and says whose invitation it was and what is awaited', async () => {
  const seen: string[] = [];
  const result = { mesh: about.mesh, machine: 'laptop', store: '/s', remotes: [], writable: true };
  const said: string[] = [];
  for (const [policy, admitted] of [
    ['roster', false],
    ['roster', true],
    ['open', false],
    ['open', true],
  ] as const) {
    // prettier-ignore
    const joinMesh = ({ url }: { url: string }): Promise<never> => {
      seen.push(url);
      return Promise.resolve({ ...result, invited: { by: 'studio', policy, admitted } } as never);
    };
    said.push(/invited .*/.exec((await runStubbed(['join', code], { access: { joinMesh } })).out)?.[0] ?? '');
  }
  expect(seen).toEqual([code, code, code, code]);
  expect(said).toEqual([
    'invited by studio; admission is awaited: until studio has synchronised, nobody reads what is sent from here',
    'invited by studio, which has admitted this machine',
    'invited by studio, which attests this machine’s key the next time it synchronises',
    'invited by studio, which attests its key',
  ]);
});

it('join takes the line that invite printed, in quotes or as it is, and no other words', async () => {
  const seen: string[] = [];
  const result = { mesh: about.mesh, machine: 'laptop', store: '/s', remotes: [], writable: true };
  const joinMesh = ({ url }: { url: string }): Promise<never> => {
    seen.push(url);
    return Promise.resolve(result as never);
  };
  const line = `git mesh join ${code}`;
  for (const argv of [[line], line.split(' '), [...line.split(' '), '--machine', 'laptop']]) {
    expect((await runStubbed(['join', ...argv], { access: { joinMesh } })).code).toBe(0);
  }
  expect(seen).toEqual([line, line, line]);
  const more = await runStubbed(['join', ...line.split(' '), 'laptop'], { access: { joinMesh } });
  expect([more.code, more.err]).toEqual([2, expect.stringContaining('Give the code alone')]);
  const path = await runStubbed(['join', '/srv/my', 'mesh.git'], { access: { joinMesh } });
  expect([path.code, path.err]).toEqual([2, expect.stringContaining('a path with spaces goes in quotes')]);
  expect(seen).toHaveLength(3);
});

it('--verbose shows no code that was typed as a folder', async () => {
  const run = await runStubbed(['status', '--verbose', '--dir', code], { results: { status: {} } });
  expect(run.err).not.toContain(code.slice(6, 60));
});

it.each([
  [[code]],
  [['join', code, code]],
  [['join', '--handle', code]],
  [['checkin', 'a', '--ttl', code]],
  [['help', code]],
])('shows no code in an error, wherever it was typed (%#)', async (argv) => {
  for (const json of [[], ['--json']]) {
    const run = await runStubbed([...argv, ...json]);
    expect(run.code).toBe(2);
    expect(run.out + run.err).not.toContain(code.slice(6, 60));
  }
});
