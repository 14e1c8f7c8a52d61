#!/usr/bin/env node
// Committed so that npm can link the command before the first build; it only loads that build.
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  process.stderr.write('git-mesh is not built yet: run `npm run build` in its folder, then try again.\n');
  process.exit(1);
}
await import(main.href);
