import { describe, expect, it } from 'vitest';
import { cacheFolder } from './cache-folder.js';

const homedir = (): string => '/home/ann';

describe('the folder for what can be made anew', () => {
  it.runIf(process.platform !== 'win32')('is where each system keeps such things', () => {
    expect(cacheFolder({ platform: 'linux', env: {}, homedir })).toBe('/home/ann/.cache');
    expect(cacheFolder({ platform: 'linux', env: { XDG_CACHE_HOME: '/var/c' }, homedir })).toBe('/var/c');
    expect(cacheFolder({ platform: 'darwin', env: { XDG_CACHE_HOME: '/var/c' }, homedir })).toBe(
      '/home/ann/Library/Caches',
    );
    expect(cacheFolder({ platform: 'win32', env: { LOCALAPPDATA: '/local' }, homedir })).toBe('/local');
  });

  it('is none where it would depend on the working directory', () => {
    expect(cacheFolder({ platform: 'linux', env: {}, homedir: () => 'home' })).toBeNull();
    expect(cacheFolder({ platform: 'linux', env: { XDG_CACHE_HOME: 'c' }, homedir: () => '' })).toBeNull();
    expect(cacheFolder({ platform: 'win32', env: {}, homedir })).toBeNull();
  });
});
