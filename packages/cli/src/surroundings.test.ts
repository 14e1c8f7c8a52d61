import { describe, expect, it } from 'vitest';
import { currentFolder, homeFolder } from './surroundings.js';
import { runStubbed } from './testing/stub-runtime.js';
import { UsageError } from './usage-error.js';

const gone = (): never => {
  throw Object.assign(new Error('uv_cwd'), { code: 'ENOENT' });
};

describe('the surroundings', () => {
  it('that are not there are told with the way on', () => {
    expect(() => currentFolder(gone)).toThrow(/current folder is gone.*ENOENT.*--dir/);
    expect(() => homeFolder(gone)).toThrow(/no home folder.*ENOENT.*--dir/);
    expect(() => homeFolder(gone)).toThrow(UsageError);
    expect(currentFolder(() => '/x')).toBe('/x');
  });

  it('that are not needed are not asked for', async () => {
    const { locateStore } = await import('@git-mesh/sync/locate');
    const options = { cwd: gone, homedir: gone, results: { status: { fine: true } }, locateStore };
    expect(await runStubbed(['--dir', '/a', 'status', '--json'], options)).toMatchObject({ code: 0 });
  });
});
