import { describe, expect, it } from 'vitest';
import { redirectedBase } from './redirect.js';

const suffix = '/info/refs?service=git-upload-pack';
const to = (from: string, location: string): string =>
  redirectedBase(new URL(`${from}${suffix}`), location, suffix).href;

describe('redirectedBase', () => {
  it.each([
    ['http://host/x', `https://host/x${suffix}`, 'https://host/x'],
    ['https://host/x', `/y.git${suffix}`, 'https://host/y.git'],
    ['https://host:8443/x', `https://HOST:8443/a/b${suffix}`, 'https://host:8443/a/b'],
    ['https://host/x', `https://bob:secret@host/y${suffix}`, 'https://host/y'],
  ])('%s to %s is %s', (from, location, base) => {
    expect(to(from, location)).toBe(base);
  });

  it.each([
    ['https://host/x', `http://host/x${suffix}`],
    ['http://host:8080/x', `https://host/x${suffix}`],
    ['https://host/x', `https://host:8443/x${suffix}`],
    ['https://host/x', `https://sub.host/x${suffix}`],
    ['https://host/x', `https://host@other/x${suffix}`],
    ['https://host/x', `//other/x${suffix}`],
    ['https://host/x', `file:///x${suffix}`],
    ['https://host/x', '/x/info/refs?service=git-receive-pack'],
    ['https://host/x', 'https://'],
  ])('%s never leads to %s', (from, location) => {
    expect(() => to(from, location)).toThrow();
  });
});
