#!/usr/bin/env node
// Committed so that npm can link the command before the first build; it only loads that build: the bundle, or where a
// package was compiled after it was made (in a clone, by `tsc -b` alone) the compiled files, which are never behind.
import { statSync } from 'node:fs';

const madeAt = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs;
const bundled = madeAt('../bundle/main.js');
const isCurrent =
  bundled !== undefined &&
  ['..', '../../core', '../../sync', '../../mcp'].every(
    (folder) => (madeAt(`${folder}/dist/tsconfig.tsbuildinfo`) ?? 0) <= bundled,
  );
const main = isCurrent ? '../bundle/main.js' : '../dist/main.js';
if (!isCurrent && madeAt(main) === undefined) {
  process.stderr.write('git-mesh is not built yet: run `npm run build` in its folder, then try again.\n');
  process.exit(1);
}
await import(main);
