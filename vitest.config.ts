import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const unit = (name: string) => ({
  extends: true as const,
  test: { name, include: [`packages/${name}/src/**/*.test.ts`] },
});

// Unit tests run from the sources through this condition; tests that start processes use the build.
const conditions = ['@git-mesh/source', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Most tests wait for processes of theirs, or for a deadline: one more at once than there are processors.
    maxWorkers: availableParallelism() + 1,
    // Each test has a home of its own: every command would write compiled code there. Who tests that turns it on.
    env: { GIT_MESH_NO_CODE_CACHE: '1' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      unit('core'),
      unit('sync'),
      unit('mcp'),
      unit('cli'),
      { extends: true as const, test: { name: 'across', include: ['test/**/*.test.ts'] } },
    ],
  },
});
