import type { Oid, RefName } from '@git-mesh/core';
import { expect, test } from 'vitest';
import { branchNames } from './branch-names.js';

const refs = (names: Record<string, string>): Map<RefName, Oid> =>
  new Map(Object.entries(names).map(([ref, oid]) => [ref as RefName, oid as Oid]));

test('what a plain clone tracks counts under the names of the mesh, origin before any other remote', () => {
  const named = branchNames(
    refs({
      'refs/heads/main': '1',
      'refs/remotes/backup/mesh/lab': '2',
      'refs/remotes/backup/mesh/studio': '3',
      'refs/remotes/origin/HEAD': '1',
      'refs/remotes/origin/mesh/_charter': '1',
      'refs/remotes/origin/mesh/lab': '4',
    }),
  );
  expect(Object.fromEntries(named)).toEqual({
    'refs/heads/main': '1',
    'refs/heads/mesh/_charter': '1',
    'refs/heads/mesh/lab': '4',
    'refs/heads/mesh/studio': '3',
  });
});

test('a branch that is there by its own name is never replaced by one that is tracked', () => {
  const named = branchNames(refs({ 'refs/heads/mesh/lab': '1', 'refs/remotes/origin/mesh/lab': '2' }));
  expect(named.get('refs/heads/mesh/lab' as RefName)).toBe('1');
});
