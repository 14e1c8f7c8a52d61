#!/usr/bin/env node
// Committed so that npm can link the command before the first build; it only loads that build: the bundle, or where a
// package was compiled after it was made (in a clone, by `tsc -b` alone) the compiled files, which are never behind.
// CommonJS, since Node needs some milliseconds more to start with an ES module.
'use strict';
const { statSync } = require('node:fs');
const { join } = require('node:path');

const at = (path) => join(__dirname, path);
const madeAt = (path) => statSync(at(path), { throwIfNoEntry: false })?.mtimeMs;
const bundled = madeAt('../bundle/start.cjs');
const isCurrent =
  bundled !== undefined &&
  ['..', '../../core', '../../sync', '../../mcp'].every(
    (folder) => (madeAt(`${folder}/dist/tsconfig.tsbuildinfo`) ?? 0) <= bundled,
  );
if (isCurrent) {
  const { argv, env, execArgv, version, arch, pid, platform, getuid, sourceMapsEnabled } = process;
  require('../bundle/start.cjs').start({
    bundle: at('../bundle'),
    argv: argv.slice(2),
    env,
    execArgv,
    version,
    arch,
    pid,
    platform,
    uid: getuid?.(),
    now: Date.now,
    sourceMapsEnabled,
    homedir: () => require('node:os').homedir(),
    require,
    compiledBytes: () => require('node:v8').getHeapCodeStatistics().bytecode_and_metadata_size,
  });
} else if (madeAt('../dist/main.js') !== undefined) {
  import('../dist/main.js').then(({ main }) => main());
} else {
  process.stderr.write('git-mesh is not built yet: run `npm run build` in its folder, then try again.\n');
  process.exit(1);
}
