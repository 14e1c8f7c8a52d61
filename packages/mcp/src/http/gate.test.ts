import { describe, expect, it } from 'vitest';
import { refuse } from './gate.js';

const token = 'a-token-of-some-length';
const good = { host: '127.0.0.1:4321', authorization: `Bearer ${token}` };
const statusOf = (headers: Record<string, string | undefined>): number | null =>
  refuse(headers, { port: 4321, token })?.status ?? null;

describe('a request over HTTP', () => {
  it.each([
    good,
    { ...good, host: 'localhost:4321' },
    { ...good, host: 'LOCALHOST:4321' },
    { ...good, host: '[::1]:4321' },
    { ...good, origin: 'http://localhost:9000' },
    { ...good, origin: 'https://127.0.0.1' },
    { ...good, origin: 'http://[::1]:80' },
    { ...good, authorization: `bearer ${token}` },
  ])('with %j may ask', (headers) => {
    expect(statusOf(headers)).toBeNull();
  });

  it.each([
    { ...good, host: undefined },
    { ...good, host: '127.0.0.1' },
    { ...good, host: '127.0.0.1:4322' },
    { ...good, host: 'evil.example:4321' },
    { ...good, host: 'localhost.evil.example:4321' },
    { ...good, host: '127.0.0.1:4321.evil.example:4321' },
    { ...good, origin: 'null' },
    { ...good, origin: '' },
    { ...good, origin: 'http://evil.example' },
    { ...good, origin: 'http://localhost.evil.example' },
    { ...good, origin: 'http://localhost@evil.example' },
    { ...good, origin: 'http://127.0.0.1.evil.example:80' },
    { ...good, origin: 'file://localhost' },
  ])('with %j is not from here', (headers) => {
    expect(statusOf(headers)).toBe(403);
  });

  it.each([undefined, '', token, 'Bearer ', `Basic ${token}`, `Bearer ${token}x`, `Bearer ${token.slice(1)}`])(
    'with the authorization %j has no token',
    (authorization) => {
      expect(refuse({ ...good, authorization }, { port: 4321, token })).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': expect.stringContaining('Bearer') as string },
      });
    },
  );
});
