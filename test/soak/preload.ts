import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Environment, workspaceRoot } from '../environment.js';

/** Variables that load a module of this folder, as it was built, before whatever Node runs. */
export function preload(...names: ('shifted-clock' | 'full-disk')[]): Environment {
  if (names.length === 0) return {};
  const urls = names.map((name) => pathToFileURL(join(workspaceRoot, 'test/dist/soak', `${name}.js`)).href);
  return { NODE_OPTIONS: urls.map((url) => `--import ${url}`).join(' ') };
}

/** Variables of several preloads together. */
export function joined(...environments: Environment[]): Environment {
  const options = environments.map((env) => env['NODE_OPTIONS']).filter((option) => option !== undefined);
  const all = Object.fromEntries(environments.flatMap((env) => Object.entries(env)));
  return options.length === 0 ? all : { ...all, NODE_OPTIONS: options.join(' ') };
}
