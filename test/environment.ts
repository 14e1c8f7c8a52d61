import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Environment = Record<string, string>;

function workspace(): string {
  // This file runs from test/ (vitest) and from test/dist/ (the benchmark).
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'nx.json'))) return dir;
    if (dir === dirname(dir)) throw new Error('test/ is not inside the workspace');
  }
}

/** The root of the repository. */
export const workspaceRoot: string = workspace();

/** The built command, to be run with the Node executable. */
export const launcher: string = join(workspaceRoot, 'packages/cli/bin/git-mesh.cjs');

/** What programs need of the real environment to start at all, and what the test runner sets. */
const inherited = [
  'PATH',
  'Path',
  'SystemRoot',
  'SYSTEMROOT',
  'ComSpec',
  'PATHEXT',
  'WINDIR',
  'GIT_MESH_NO_CODE_CACHE',
];

/** An environment with its own home under `root`: no user's git configuration, no mesh settings. */
export function cleanEnvironment(root: string, extra: Environment = {}): Environment {
  const home = join(root, 'home');
  mkdirSync(home, { recursive: true });
  const env: Environment = {
    HOME: home,
    USERPROFILE: home,
    APPDATA: join(home, 'AppData', 'Roaming'),
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: tmpdir(),
    TEMP: tmpdir(),
    TMP: tmpdir(),
  };
  for (const name of inherited) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}
