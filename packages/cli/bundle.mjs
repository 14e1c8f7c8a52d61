// Makes of the build in dist/ what bin/git-mesh.mjs loads: a file for the command line and one for each part that is
// loaded only when it is needed, with everything of other packages in them. `npm run build` runs it after the compiler.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, 'bundle');

/**
 * The SDK's server loads a JSON Schema validator, a third of its code, for questions to the user, which this server
 * never asks; its client (in the demo) keeps it.
 */
const noServerValidator = {
  name: 'no-server-validator',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/validation\/ajv-provider\.js$/ }, ({ importer }) =>
      /[\\/]sdk[\\/]dist[\\/]esm[\\/]server[\\/]index\.js$/.test(importer)
        ? { path: 'none', namespace: 'no-validator' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'no-validator' }, () => ({
      contents:
        "export class AjvJsonSchemaValidator { getValidator() { throw new Error('this server validates no answers of users'); } }",
    }));
  },
};

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: { main: 'dist/main.js' },
  outdir: folder,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // A package's UMD form hides its own files from a bundler: its ES modules first.
  mainFields: ['module', 'main'],
  sourcemap: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  // Other packages' CommonJS asks for Node's own modules by this.
  banner: {
    js: "import { createRequire as bundledRequire } from 'node:module';\nconst require = bundledRequire(import.meta.url);",
  },
  plugins: [noServerValidator],
});

for (const { path, text } of outputFiles) {
  const left = path.endsWith('.js') && /\brequire\d*\(["']\.{1,2}\/[^"']*["']\)/.exec(text)?.[0];
  if (left) throw new Error(`${relative(folder, path)} still asks for a file of a package: ${left}`);
}

/** The licences of what is in the bundle, which ask to go with it. */
function thirdParty() {
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (found !== undefined) packages.add(resolve(here, found));
  }
  const notices = [...packages].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const files = readdirSync(path).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    const texts = files.map((file) => readFileSync(join(path, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  return `What is bundled here was written by others too:\n\n${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

mkdirSync(join(folder, 'chunks'), { recursive: true });
// The launcher tells by the age of main.js whether the bundle is that of the build beside it: main.js goes last.
const last = join(folder, 'main.js');
for (const { path, contents } of outputFiles) if (path !== last) writeFileSync(path, contents);
writeFileSync(join(folder, 'THIRD-PARTY.txt'), thirdParty());
// For the test of what is loaded when.
writeFileSync(join(folder, 'contents.json'), `${JSON.stringify(metafile.outputs)}\n`);
const main = outputFiles.find(({ path }) => path === last);
if (main === undefined)
  throw new Error(`no main.js among ${outputFiles.map(({ path }) => relative(folder, path)).join(', ')}`);
writeFileSync(last, main.contents);
const made = new Set(outputFiles.map(({ path }) => path));
for (const name of readdirSync(join(folder, 'chunks'))) {
  const path = join(folder, 'chunks', name);
  if (!made.has(path)) rmSync(path);
}
