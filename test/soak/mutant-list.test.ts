import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../environment.js';
import { mutants } from './mutant-list.js';

test('the text of every mutant is in the build, once', () => {
  for (const { name, changes } of mutants) {
    for (const { file, replace } of changes) {
      const build = readFileSync(join(workspaceRoot, 'packages', file), 'utf8');
      expect(build.split(replace).length - 1, `${name}: ${file}`).toBe(1);
    }
  }
});
