import { MeshError } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { proxyAuthorization, proxyFor } from './proxy.js';

const https = new URL('https://git.example.com/x.git');
const http = new URL('http://git.example.com:8080/x.git');
const at = (url: URL, env: Record<string, string>, configured: string | null = null): string | null =>
  proxyFor(url, { env, configured })?.href ?? null;

describe('proxyFor', () => {
  it('goes by the scheme, then by ALL_PROXY, and takes lower case first', () => {
    expect(at(https, { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:2' })).toBe('http://a:1/');
    expect(at(http, { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:2' })).toBe('http://b:2/');
    expect(at(https, { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://c:3' })).toBe('http://c:3/');
    expect(at(https, { ALL_PROXY: 'http://d:4', HTTP_PROXY: 'http://b:2' })).toBe('http://d:4/');
    expect(at(http, { all_proxy: 'proxy.example:3128' })).toBe('http://proxy.example:3128/');
    expect(at(https, {})).toBeNull();
    expect(at(https, { HTTPS_PROXY: '' })).toBeNull();
  });

  it("takes git's http.proxy before the environment, an empty one for none", () => {
    expect(at(https, { HTTPS_PROXY: 'http://a:1' }, 'http://e:5')).toBe('http://e:5/');
    expect(at(https, { HTTPS_PROXY: 'http://a:1' }, '')).toBeNull();
  });

  it.each([
    ['*', true],
    ['example.com', true],
    ['.example.com', true],
    ['*.example.com', true],
    ['git.example.com', true],
    ['other.org, GIT.example.COM', true],
    ['other.org git.example.com:443', true],
    ['git.example.com:8443', false],
    ['ample.com', false],
    ['xgit.example.com', false],
    ['', false],
    ['.', false],
  ])('NO_PROXY=%j takes git.example.com out: %s', (list, out) => {
    expect(at(https, { HTTPS_PROXY: 'http://a:1', NO_PROXY: list })).toBe(out ? null : 'http://a:1/');
  });

  it.each([
    ['http://10.1.2.3/x', '10.0.0.0/8', true],
    ['http://11.1.2.3/x', '10.0.0.0/8', false],
    ['http://10.1.2.3/x', '2.3', false],
    ['http://10.1.2.3/x', '10.1.2.3', true],
    ['http://[fd00::1]/x', 'fd00::/8', true],
    ['http://[fd00::1]/x', 'fd00::1', true],
    ['http://[fd00::1]:81/x', '[fd00::1]:80', false],
    ['http://10.1.2.3/x', '10.0.0.0/99', false],
  ])('%s with NO_PROXY=%s goes out: %s', (url, no_proxy, out) => {
    expect(at(new URL(url), { http_proxy: 'http://a:1', no_proxy }) === null).toBe(out);
  });

  it('refuses what it does not speak, without showing it', () => {
    for (const proxy of ['socks5://bob:hunter2@a:1', 'http://', '::']) {
      const refused = (): unknown => at(https, { HTTPS_PROXY: proxy });
      expect(refused).toThrow(MeshError);
      expect(refused).not.toThrow('hunter2');
    }
  });
});

describe('proxyAuthorization', () => {
  it('decodes the user and password of the URL', () => {
    expect(proxyAuthorization(new URL('http://a:1'))).toBeNull();
    const header = proxyAuthorization(new URL('http://bob:p%40ss%3A@a:1')) ?? '';
    expect(Buffer.from(header.replace('Basic ', ''), 'base64').toString()).toBe('bob:p@ss:');
  });
});
