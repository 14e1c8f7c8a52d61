import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mesh } from '../machines.js';
import { stockGit, writeBranch } from '../stock-git.js';

test('a machine whose branch on the remote is foreign is told so by sync and send, and how it goes on', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  const own = stockGit(['--git-dir', remote, 'rev-parse', 'refs/heads/mesh/laptop']);
  writeBranch(remote, 'refs/heads/mesh/laptop', [{ path: 'notes.txt', body: 'mine now\n' }], {
    signedBy: studio.store,
  });

  const sync = await laptop.run(['sync', '--json']);
  expect(sync.code).toBe(5);
  expect(JSON.parse(sync.stdout)).toMatchObject({ state: 'offline', error: { name: 'own_branch_foreign' } });

  const send = await laptop.run(['send', 'studio', 'note', '--message', 'hello']);
  expect(send.code).toBe(0);
  expect(send.stderr.match(/does not leave this machine/g)).toHaveLength(1);

  const status = await laptop.run(['status']);
  expect([status.code, status.stdout]).toEqual([
    0,
    expect.stringContaining('git mesh join URL --machine HANDLE --dir'),
  ]);
  expect((await laptop.json(['agents'])).sync.error).toMatchObject({ name: 'own_branch_foreign' });

  stockGit(['--git-dir', remote, 'update-ref', 'refs/heads/mesh/laptop', own]);
  expect(await laptop.json(['sync'])).toMatchObject({ state: 'ok', queued: 0, error: null });
  await studio.json(['sync']);
  expect((await studio.json(['status'])).problems).toEqual([]);
});

test('an exchange in which a branch could not be fetched does not call all up to date', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['sync']);
  await laptop.json(['send', 'studio', 'note', '--from', 'dev', '--message', 'never arrives']);
  const tree = stockGit(['--git-dir', remote, 'rev-parse', 'refs/heads/mesh/laptop^{tree}']);
  rmSync(join(remote, 'objects', tree.slice(0, 2), tree.slice(2)));
  const sync = await studio.run(['sync']);
  expect(sync).toMatchObject({ code: 0, stdout: 'Exchanged.\n' });
  expect(sync.stderr).toContain('the branch of laptop on remote origin is not accepted');
  expect(JSON.parse((await studio.run(['sync', '--json'])).stdout)).toMatchObject({
    state: 'ok',
    problems: [{ kind: 'unfetchable', machine: 'laptop' }],
  });
});
