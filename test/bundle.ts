import { statSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from './environment.js';

const madeAt = (path: string): number =>
  statSync(join(workspaceRoot, 'packages', path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** @throws Error where the launcher takes the compiled files instead of the bundle, which a test is about. */
export function requireBundle(): void {
  const bundled = madeAt('cli/bundle/start.cjs');
  const younger = ['core', 'sync', 'mcp', 'cli'].filter(
    (name) => madeAt(`${name}/dist/tsconfig.tsbuildinfo`) > bundled,
  );
  if (bundled === 0 || younger.length > 0) {
    throw new Error(
      'the bundle is older than what was compiled: run `npm run build`, not `tsc -b` alone, before this test',
    );
  }
}
