import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { stockGit } from '../stock-git.js';

test('what the demo leaves is sound for stock git: every commit proves who made it, and fsck finds nothing', async () => {
  const root = scratch();
  const parent = join(root, 'tmp');
  mkdirSync(parent);
  const machine = new Machine(root, 'watcher', { TMPDIR: parent, TMP: parent, TEMP: parent });
  expect((await machine.run(['demo', '--keep'])).stdout).toContain('everything is kept in ');
  const [made = ''] = readdirSync(parent).filter((name) => name.startsWith('git-mesh-demo-'));
  const [hub, signers] = [join(parent, made, 'hub.git'), join(root, 'allowed_signers')];
  // Each machine vouches for the keys that it knows; together they know all.
  const lines = await Promise.all(
    ['studio', 'laptop'].map(async (name) => {
      const keys = await machine.run(['--dir', join(parent, made, name), 'keys', '--allowed-signers']);
      return keys.stdout.trimEnd().split('\n');
    }),
  );
  writeFileSync(signers, `${[...new Set(lines.flat())].join('\n')}\n`);
  const commits = stockGit(['--git-dir', hub, 'rev-list', '--all']).split('\n');
  // Both join, check in, send, read and say what arrived: the charter apart, each more than once.
  expect(commits.length).toBeGreaterThan(7);
  stockGit(['--git-dir', hub, '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', ...commits]);
  for (const repository of [hub, join(parent, made, 'studio'), join(parent, made, 'laptop')]) {
    expect(stockGit(['--git-dir', repository, 'fsck', '--strict', '--full'])).toBe('');
  }
}, 120_000);
