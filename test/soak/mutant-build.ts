import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '../environment.js';
import type { Mutant } from './mutant-list.js';

const packages = ['core', 'sync', 'mcp', 'cli'];

/**
 * A copy of the build at `root` that is complete in itself but for other people's packages, which are linked. Gives the
 * command to run.
 */
export function copyBuild(root: string): string {
  for (const name of packages) {
    for (const part of ['package.json', 'bin', 'dist', 'node_modules']) {
      const from = join(workspaceRoot, 'packages', name, part);
      if (!existsSync(from)) continue;
      const to = join(root, 'packages', name, part);
      if (part === 'node_modules') {
        mkdirSync(join(root, 'packages', name), { recursive: true });
        symlinkSync(from, to);
      } else cpSync(from, to, { recursive: true });
    }
  }
  const modules = join(root, 'node_modules');
  mkdirSync(join(modules, '@git-mesh'), { recursive: true });
  for (const name of readdirSync(join(workspaceRoot, 'node_modules'))) {
    if (name === '@git-mesh' || name === 'git-mesh' || name.startsWith('.')) continue;
    symlinkSync(join(workspaceRoot, 'node_modules', name), join(modules, name));
  }
  for (const name of packages) {
    const link = name === 'cli' ? join(modules, 'git-mesh') : join(modules, '@git-mesh', name);
    symlinkSync(join(root, 'packages', name), link);
  }
  return join(root, 'packages/cli/bin/git-mesh.cjs');
}

/**
 * Makes the changes of a mutant in a copied build; gives what puts it right again.
 * @throws Error where a text to replace is not there exactly once: the code has moved on, and the mutant must too.
 */
export function mutate(root: string, { name, changes }: Mutant): () => void {
  const before = changes.map(
    ({ file }) => [join(root, 'packages', file), readFileSync(join(root, 'packages', file))] as const,
  );
  for (const { file, replace, by } of changes) {
    const path = join(root, 'packages', file);
    const parts = readFileSync(path, 'utf8').split(replace);
    if (parts.length !== 2) {
      throw new Error(`mutant ${name}: expected once in ${file}, found ${parts.length - 1} times:\n${replace}`);
    }
    writeFileSync(path, parts.join(by));
  }
  return () => {
    for (const [path, bytes] of before) writeFileSync(path, bytes);
  };
}
