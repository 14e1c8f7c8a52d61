import { resolve } from 'node:path';
import { MeshError, encodeInviteCode } from '@git-mesh/core';
import type { InviteCode } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { parseRemoteUrl, redactUrl, sameRepository } from './remote-url.js';

// Branded texts that a test writes as they are.
const code = encodeInviteCode({ url: '/srv/x.git', mesh: '01M8RDA4M0KC773BNQD5BAEVKQ', charter: '0'.repeat(40), name: 'team', by: 'studio', key: `SHA256:${'a'.repeat(43)}`, id: 'AAAABBBBCCCCDDDD', secret: 'A'.repeat(43), expires: '2026-12-02T05:15:00.000Z' } as InviteCode); // prettier-ignore
const cwd = resolve('/work/here');
const posix = process.platform !== 'win32';

describe('parseRemoteUrl', () => {
  it.each([
    ['../mesh.git', resolve(cwd, '../mesh.git')],
    ['./a:b', resolve(cwd, 'a:b')],
    ['./-x', resolve(cwd, '-x')],
    ['mesh.git', resolve(cwd, 'mesh.git')],
    ['/srv/mesh with space.git/', resolve('/srv/mesh with space.git')],
    ['C:\\mesh\\x.git', 'C:\\mesh\\x.git'],
    ['c:/mesh/x.git', 'c:\\mesh\\x.git'],
    ['\\\\server\\share\\mesh.git', '\\\\server\\share\\mesh.git'],
  ])('takes %s as a path', (text, path) => {
    expect(parseRemoteUrl(text, { cwd })).toMatchObject({ kind: 'local', path });
  });

  it.skipIf(!posix)('takes a file:// URL, decoded, and keeps it as it was given', () => {
    const url = 'file:///srv/my%20mesh.git';
    expect(parseRemoteUrl(url, { cwd })).toEqual({ kind: 'local', path: '/srv/my mesh.git', url });
    expect(parseRemoteUrl('FILE://localhost/srv/x', { cwd })).toMatchObject({ path: '/srv/x' });
  });

  it.each([
    ['', 'empty'],
    [`/work/here/mesh1.eyJ${'2'.repeat(60)}`, 'rename that folder'],
    [`/work/here/git mesh join mesh1.eyJ${'2'.repeat(60)}`, 'rename that folder'],
    ['/srv/mesh1.eyJ2/team.git', 'rename that folder'],
    [`./${code}`, '`git mesh join CODE` takes'],
    ['  ', 'empty'],
    ['-x', 'option'],
    ['--upload-pack=touch /tmp/x', 'option'],
    ['ext::sh -c touch% /tmp/x', 'helper'],
    ['fd::17', 'helper'],
    ['EXT::x', 'helper'],
    ['::x', 'helper'],
    ['http::https://x', 'helper'],
    ['git://host/x', 'scheme git://'],
    ['ftp://host/x', 'scheme ftp://'],
    ['javascript://x', 'scheme javascript://'],
    ['a\nb', 'control'],
    ['/srv/\u202egit', 'control'],
    ['file:///srv/%00x', 'file'],
    ['file:///srv/%0ax', 'control'],
    ['file:///srv/a%2Fb', 'file://'],
    ['file://otherhost/srv/x', 'file://'],
    ['file:///srv/x?y', '%3F'],
  ])('refuses %j, and says why', (text, why) => {
    let refusal: unknown;
    try {
      parseRemoteUrl(text, { cwd });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(MeshError);
    expect(refusal).toMatchObject({ errorName: 'invalid_argument' });
    expect((refusal as MeshError).message).toContain(why);
    expect((refusal as MeshError).message).not.toContain('hunter2');
  });
});

describe('redactUrl', () => {
  it('keeps what is no secret', () => {
    expect(redactUrl('https://bob:hunter2@host/x.git')).toBe('https://***@host/x.git');
    expect(redactUrl('bob:hunter2@host:x.git')).toBe('***@host:x.git');
    expect(redactUrl('git@host:x.git')).toBe('git@host:x.git');
    expect(redactUrl('ssh://git@host/x.git')).toBe('ssh://git@host/x.git');
    expect(redactUrl('ssh://git:hunter2@host/x.git')).toBe('ssh://***@host/x.git');
    expect(redactUrl('https://host/x?token=hunter2')).toBe('https://host/x?token=***');
    expect(redactUrl('/srv/mesh.git')).toBe('/srv/mesh.git');
  });
});

it.each([
  ['/srv/a.git', '/srv/a.git/', true],
  ['/srv/a.git', 'file:///srv/a.git', true],
  ['/srv/a.git', '/srv/a', false],
  ['https://Git.Example.org/a.git', 'https://git.example.org:443/a', true],
  ['https://git.example.org/a.git', 'http://git.example.org/a.git', false],
  ['https://git.example.org/a.git', 'https://git.example.org/b.git', false],
  ['ssh://git@h.example/a/b.git', 'ssh://git@H.example:22/a/b', true],
  ['ssh://git@h.example/a.git', 'ssh://git@h.example:2222/a.git', false],
])('%s and %s are one repository: %s', (a, b, same) => {
  expect(sameRepository(a, b)).toBe(same);
});
