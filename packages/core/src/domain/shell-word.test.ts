import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.js';

describe('a word of a command', () => {
  it.each([
    '/srv/git/team.git',
    'git@host:team/mesh.git',
    'https://host/x.git',
    'C:\\srv\\hub.git',
    '\\\\server\\share',
  ])('stays as it is: %s', (text) => {
    expect(shellWord(text)).toBe(text);
  });

  it.skipIf(process.platform === 'win32').each(["/l'été/a b", '/x"y"', '/$HOME`id`', '/a;b', '/a\\b', '~/x', ''])(
    'is taken by a shell for what it was: %j',
    (text) => {
      expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
    },
  );

  it('is quoted as the shells of Windows have it', () => {
    expect(shellWord('C:\\my files\\hub.git')).toBe('"C:\\my files\\hub.git"');
  });
});
