import { expect, test } from 'vitest';
import { envForHosts, tokenFor } from './token.js';

const at = (url: string, env: Record<string, string>): string | null => tokenFor(new URL(url), env)?.token ?? null;

test.each([
  ['https://git.example.org/a.git', 't'],
  ['https://10.0.0.7:8443/a.git', 't'],
  ['http://127.0.0.1:8080/a.git', 't'],
  ['http://[::1]/a.git', 't'],
  ['http://localhost/a.git', 't'],
  ['http://git.example.org/a.git', null],
  ['http://127.0.0.1.example.org/a.git', null],
  ['http://localhost.example.org/a.git', null],
  ['http://[::2]/a.git', null],
])('the token for %s is %s: never in the clear to another machine', (url, expected) => {
  expect(at(url, { GIT_MESH_TOKEN: 't' })).toBe(expected);
});

test('a host’s own token goes to it before the common one, with its own user name, and to no other host', () => {
  const env = {
    GIT_MESH_TOKEN: 'common',
    GIT_MESH_USERNAME: 'everybody',
    GIT_MESH_TOKEN_GIT__HUB_EXAMPLE_ORG: 'own',
    GIT_MESH_USERNAME_GIT__HUB_EXAMPLE_ORG: 'bot',
    GIT_MESH_TOKEN_GIT_EXAMPLE_ORG_8443: 'ported',
  };
  expect(tokenFor(new URL('https://git-hub.example.org/a'), env)).toEqual({
    token: 'own',
    username: 'bot',
    source: 'GIT_MESH_TOKEN_GIT__HUB_EXAMPLE_ORG',
  });
  expect(tokenFor(new URL('https://git.hub.example.org/a'), env)).toMatchObject({
    token: 'common',
    username: 'everybody',
  });
  expect(tokenFor(new URL('https://git.example.org:8443/a'), env)).toMatchObject({ token: 'ported', username: null });
  expect(at('http://git-hub.example.org/a', env)).toBeNull();
});

test('where the remotes are on several hosts, none gets the common token', () => {
  const env = { GIT_MESH_TOKEN: 't', GIT_MESH_USERNAME: 'u', GIT_MESH_TOKEN_A_EXAMPLE: 'a' };
  const one = ['https://a.example/x.git', 'https://a.example/y.git', '/srv/z.git', 'ssh://b.example/z.git'];
  expect(envForHosts(env, one)).toBe(env);
  const several = envForHosts(env, [...one, 'https://b.example/x.git']);
  expect(tokenFor(new URL('https://b.example/x.git'), several)).toBeNull();
  expect(tokenFor(new URL('https://a.example/x.git'), several)).toMatchObject({ token: 'a', username: null });
});
