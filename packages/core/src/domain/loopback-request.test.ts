import { describe, expect, it } from 'vitest';
import { foreignRequest } from './loopback-request.js';

const host = '127.0.0.1:4321';
const asked = (headers: Record<string, string>, pages: 'own' | 'loopback', isPage = false) =>
  foreignRequest({ host, ...headers }, { port: 4321, pages, isPage });

describe('a request to a loopback server', () => {
  it.each([
    {},
    { host: 'localhost:4321' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
  ])('with %j is from here', (headers) => {
    expect([asked(headers, 'own'), asked(headers, 'loopback')]).toEqual([null, null]);
  });

  it.each([
    { host: 'evil.example:4321' },
    { host: '127.0.0.1' },
    { origin: 'http://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'Cross-Site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ])('with %j is not', (headers) => {
    for (const isPage of [false, true]) {
      expect(asked(headers, 'own', isPage)).not.toBeNull();
      expect(asked(headers, 'loopback', isPage)).not.toBeNull();
    }
  });

  it('that opens a page from a link elsewhere is one, and for that page alone', () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect([asked(link, 'own', true), asked(link, 'own')]).toEqual([null, 'pages of other sites may not ask']);
  });

  it('from a page of another server on this machine is one where those may ask', () => {
    const page = { origin: 'http://localhost:6274', 'sec-fetch-site': 'cross-site' };
    expect([asked(page, 'loopback'), asked(page, 'own')]).toEqual([null, 'pages of other origins may not ask']);
  });
});
