// Makes of the build in dist/ what bin/git-mesh.cjs loads: a file for the command line and one for each part that is
// loaded only when it is needed, with everything of other packages in them. `npm run build` runs it after the compiler.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

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

/** Most files are read without a YAML parser: it is made when a file needs it, or when one is written. */
const yamlWhenUsed = {
  name: 'yaml-when-used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^yaml$/ }, ({ kind, resolveDir }) =>
      kind === 'import-statement' ? { path: 'yaml', namespace: 'when-used', pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'when-used' }, ({ pluginData }) => ({
      resolveDir: pluginData,
      contents: ['parseDocument', 'isAlias', 'isMap', 'isScalar', 'isSeq']
        .map((name) => `export const ${name} = (...args) => require('yaml').${name}(...args);`)
        .join('\n'),
    }));
  },
};

const common = { platform: 'node', target: 'node20.19', legalComments: 'none' };

const { outputFiles: modules, metafile } = await build({
  ...common,
  absWorkingDir: here,
  entryPoints: { main: 'dist/main.js' },
  outdir: folder,
  outExtension: { '.js': '.cjs' },
  // Named by what is in them: code that was compiled of one is never taken for another's.
  entryNames: '[name]-[hash]',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  // The only format that esbuild splits into parts.
  format: 'esm',
  // A package's UMD form hides its own files from a bundler: its ES modules first.
  mainFields: ['module', 'main'],
  sourcemap: 'inline',
  metafile: true,
  write: false,
  plugins: [noServerValidator, yamlWhenUsed],
});

/** A part as CommonJS, the form whose compiled code Node 20 lets a program keep, and its source map. */
async function asCommonJs({ path, text }) {
  const { code, map } = await transform(text, {
    ...common,
    format: 'cjs',
    sourcefile: basename(path),
    sourcemap: 'external',
    // Parts that are loaded later are required then: the launcher knows no other way to load one.
    supported: { 'dynamic-import': false },
    ...(text.includes('import.meta.url') && {
      define: { 'import.meta.url': 'partUrl' },
      banner: "const partUrl = require('node:url').pathToFileURL(__filename).href;",
    }),
  });
  const known = new Set(modules.map(({ path }) => path));
  for (const [call, name] of code.matchAll(/\brequire\d*\(["'](\.{1,2}\/[^"']*)["']\)/g)) {
    if (!known.has(resolve(dirname(path), name)))
      throw new Error(`${relative(folder, path)} still asks for a file of a package: ${call}`);
  }
  // It is read as Latin-1, whose strings the engine takes as they are. Only comments and regular expressions still have
  // other characters, and both take them in this form too.
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    { path, text: `${ascii}//# sourceMappingURL=${basename(path)}.map\n` },
    { path: `${path}.map`, text: map },
  ];
}

const parts = (await Promise.all(modules.map(asCommonJs))).flat();
const main = parts.find(({ path }) => /^main-\w+\.cjs$/.test(relative(folder, path)));
if (main === undefined)
  throw new Error(`no main part among ${parts.map(({ path }) => relative(folder, path)).join(', ')}`);
const id = createHash('sha256')
  .update(parts.map(({ path, text }) => `${relative(folder, path)}\0${text}`).join('\0'))
  .digest('hex')
  .slice(0, 16);

const { outputFiles: start } = await build({
  ...common,
  absWorkingDir: here,
  entryPoints: { start: 'dist/start/start.js' },
  outdir: folder,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  sourcemap: true,
  define: { bundleId: JSON.stringify(id), mainPart: JSON.stringify(basename(main.path)) },
  write: false,
});

const files = [...parts, ...start];

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
// The launcher tells by the age of start.cjs whether the bundle is that of the build beside it, and start.cjs names the
// main part: it goes last.
const last = join(folder, 'start.cjs');
for (const { path, text } of files) if (path !== last) writeFileSync(path, text);
writeFileSync(join(folder, 'THIRD-PARTY.txt'), thirdParty());
// For the test of what is loaded when.
writeFileSync(join(folder, 'contents.json'), `${JSON.stringify(metafile.outputs)}\n`);
for (const { path, text } of files) if (path === last) writeFileSync(path, text);
const made = new Set([
  ...files.map(({ path }) => path),
  join(folder, 'THIRD-PARTY.txt'),
  join(folder, 'contents.json'),
]);
for (const name of readdirSync(folder, { recursive: true })) {
  const path = join(folder, name);
  if (path !== join(folder, 'chunks') && !made.has(path)) rmSync(path);
}
