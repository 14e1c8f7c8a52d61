import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const launcher = fileURLToPath(new URL('../bin/git-mesh.cjs', import.meta.url));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** What prints its name where the launcher calls it. */
const printer = (file: string, called: string): string =>
  `const ${called} = () => process.stdout.write(${JSON.stringify(file)});\n` +
  (file.endsWith('.cjs') ? `module.exports = { ${called} };` : `export { ${called} };`);

/** The launcher among packages whose files have these ages, in seconds since 1970. */
function loaded(files: Record<string, number>, name = 'git-mesh.cjs'): string {
  const root = mkdtempSync(join(tmpdir(), 'git-mesh-launcher-'));
  folders.push(root);
  cpSync(dirname(launcher), join(root, 'cli/bin'), { recursive: true });
  for (const [file, seconds] of Object.entries(files)) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, printer(file, file.endsWith('start.cjs') ? 'start' : 'main'));
    utimesSync(path, seconds, seconds);
  }
  writeFileSync(join(root, 'cli/package.json'), '{"type":"module"}');
  return execFileSync(process.execPath, [join(root, 'cli/bin', name)], { encoding: 'utf8' });
}

describe('the launcher', () => {
  it('loads the bundle of the build', () => {
    const files = {
      'cli/dist/main.js': 100,
      'cli/dist/tsconfig.tsbuildinfo': 100,
      'core/dist/tsconfig.tsbuildinfo': 90,
      'cli/bundle/start.cjs': 101,
    };
    expect(loaded(files)).toBe('cli/bundle/start.cjs');
  });

  it('loads the compiled files where a package was compiled after it was bundled', () => {
    const files = {
      'cli/dist/main.js': 100,
      'cli/dist/tsconfig.tsbuildinfo': 100,
      'core/dist/tsconfig.tsbuildinfo': 102,
      'cli/bundle/start.cjs': 101,
    };
    expect(loaded(files)).toBe('cli/dist/main.js');
  });

  it('loads the compiled files where there is no bundle', () => {
    expect(loaded({ 'cli/dist/main.js': 100 })).toBe('cli/dist/main.js');
  });

  it('loads the bundle as npm installs it, with no record of the compiler and one age for all', () => {
    expect(loaded({ 'cli/dist/main.js': 1, 'cli/bundle/start.cjs': 1 })).toBe('cli/bundle/start.cjs');
  });

  it('is found by its former name', () => {
    expect(loaded({ 'cli/dist/main.js': 1, 'cli/bundle/start.cjs': 1 }, 'git-mesh.mjs')).toBe('cli/bundle/start.cjs');
    expect(loaded({ 'cli/dist/main.js': 1 }, 'git-mesh.mjs')).toBe('cli/dist/main.js');
  });
});
