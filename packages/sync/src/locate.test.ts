import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateStore } from './locate.js';
import { GitFixture } from './testing/git-fixture.js';

describe('locateStore', () => {
  let fixture: GitFixture;
  let cwd: string;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.git(['init', '--quiet', fixture.path('work')]);
    cwd = fixture.path('work', 'deep', 'er');
    mkdirSync(cwd, { recursive: true });
  });
  afterEach(() => {
    fixture.remove();
  });

  const locate = (
    options: { dir?: string; env?: Record<string, string>; cwd?: string | (() => string); platform?: string } = {},
  ) => {
    const env = { PATH: process.env['PATH'], HOME: fixture.path('home'), GIT_CONFIG_NOSYSTEM: '1', ...options.env };
    return locateStore({ platform: 'linux', cwd, homedir: '/home/bob', ...options, env });
  };
  const configure = (value: string): string => fixture.git(['-C', fixture.path('work'), 'config', 'mesh.dir', value]);

  it('takes --dir before everything, from the working directory', async () => {
    configure('/configured');
    expect(await locate({ dir: 'x', env: { GIT_MESH_DIR: '/env' } })).toEqual({
      dir: resolve(cwd, 'x'),
      source: '--dir',
    });
    await expect(locate({ dir: '' })).rejects.toMatchObject({ errorName: 'invalid_argument' });
  });

  it('takes GIT_MESH_DIR before the configuration, and an empty one for none', async () => {
    configure('/configured');
    expect(await locate({ env: { GIT_MESH_DIR: 'y' } })).toEqual({ dir: resolve(cwd, 'y'), source: 'GIT_MESH_DIR' });
    expect((await locate({ env: { GIT_MESH_DIR: '' } })).source).toBe('git config');
  });

  it("takes mesh.dir of the repository around, relative to the repository's top", async () => {
    configure('../store');
    const found = { dir: fixture.path('store'), source: 'git config' };
    expect(await locate()).toEqual(found);
    // A hook's environment names the repository it runs in, which need not be this one.
    const other = fixture.bare('other.git');
    expect(await locate({ env: { GIT_DIR: other, GIT_WORK_TREE: fixture.root } })).toEqual(found);
    configure('~/mesh');
    expect((await locate()).dir).toBe(fixture.path('home', 'mesh'));
  });

  it('falls back on a default of the user, for each platform', async () => {
    expect(await locate()).toEqual({ dir: '/home/bob/.local/share/git-mesh/store', source: 'default' });
    expect((await locate({ env: { XDG_DATA_HOME: '/data' } })).dir).toBe('/data/git-mesh/store');
    expect((await locate({ env: { XDG_DATA_HOME: 'data' } })).dir).toBe('/home/bob/.local/share/git-mesh/store');
    expect((await locate({ platform: 'darwin' })).dir).toBe('/home/bob/Library/Application Support/git-mesh/store');
    const windows = await locate({ platform: 'win32', env: { LOCALAPPDATA: 'C:\\Users\\bob\\AppData\\Local' } });
    expect(windows.dir).toBe('C:\\Users\\bob\\AppData\\Local\\git-mesh\\store');
  });

  it('asks for the working directory and the home only where the answer needs them', async () => {
    const gone = (): never => {
      throw new Error('gone');
    };
    expect((await locate({ dir: '/a', cwd: gone })).dir).toBe('/a');
    expect((await locate({ env: { GIT_MESH_DIR: '/b' }, cwd: gone })).dir).toBe('/b');
    await expect(locate({ dir: 'a', cwd: gone })).rejects.toThrow('gone');
    await expect(locate({ cwd: gone })).rejects.toThrow('gone');
    expect((await locate({ dir: 'x', cwd: () => cwd })).dir).toBe(resolve(cwd, 'x'));
  });

  it('starts no git outside of a repository, and does without one that is missing or hangs', async () => {
    mkdirSync(fixture.path('bin'));
    writeFileSync(fixture.path('bin', 'git'), `#!/bin/sh\necho x >> ${fixture.path('ran')}\nexec sleep 60\n`);
    chmodSync(fixture.path('bin', 'git'), 0o755);
    configure('/configured');
    const { existsSync } = await import('node:fs');
    const hanging = { PATH: `${fixture.path('bin')}:${process.env['PATH'] ?? ''}` };
    expect((await locate({ cwd: fixture.root, env: hanging })).source).toBe('default');
    expect(existsSync(fixture.path('ran'))).toBe(false);
    expect((await locate({ env: hanging })).source).toBe('default');
    expect((await locate({ env: { PATH: fixture.path('nothing') } })).source).toBe('default');
  });
});
