import { expect, test } from 'vitest';
import { parseRemoteName, sameRemoteName } from './remote-name.js';

test.each(['origin', 'hub-1', 'Hub_2', 'a', 'git.example.org', '0', 'x'.repeat(64)])('%s names a remote', (name) => {
  expect(parseRemoteName(name)).toBe(name);
});

test.each([
  '',
  '.hidden',
  'a..b',
  'a.',
  'a.lock',
  'a.LOCK',
  '-f',
  'a/b',
  'a b',
  'a\u001b',
  'ä',
  'con',
  'NUL.txt',
  'x'.repeat(65),
  'a:b',
  'a*',
  'a\\b',
  '@',
])('%j does not', (name) => {
  expect(() => parseRemoteName(name)).toThrow(/is no name for a remote: expected 1 to 64/);
});

test('two spellings of one name are the same remote', () => {
  expect(sameRemoteName('Hub', 'hUB')).toBe(true);
  expect(sameRemoteName('hub', 'hub2')).toBe(false);
});
