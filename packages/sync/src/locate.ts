import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@git-mesh/core/errors';
import type { LocateStoreFunction } from './contract.js';
import type { Env } from './git-env.js';

const gitTimeoutMs = 2_000;

/**
 * Which folder is the store: `--dir`, else GIT_MESH_DIR, else `git config mesh.dir` of the repository around `cwd`
 * (relative to its top), else the user's default. Looks at no store: there may be none yet.
 *
 * @throws MeshError `invalid_argument` for an empty `--dir`.
 */
export const locateStore: LocateStoreFunction = async ({ dir, env, cwd, platform, homedir }) => {
  if (dir !== undefined) {
    if (dir === '') throw new MeshError('invalid_argument', '--dir is empty: expected the folder of the store');
    return { dir: absolute(dir, cwd), source: '--dir' };
  }
  const fromEnv = env['GIT_MESH_DIR'];
  if (fromEnv !== undefined && fromEnv !== '') return { dir: absolute(fromEnv, cwd), source: 'GIT_MESH_DIR' };

  const top = await repositoryTop(given(cwd));
  const configured = top === null ? null : await meshDir(top, env);
  if (top !== null && configured !== null) return { dir: path.resolve(top, configured), source: 'git config' };

  return { dir: defaultStore({ env, platform, homedir }), source: 'default' };
};

type Given = string | (() => string);
const given = (value: Given): string => (typeof value === 'string' ? value : value());

const absolute = (dir: string, cwd: Given): string =>
  path.isAbsolute(dir) ? path.resolve(dir) : path.resolve(given(cwd), dir);

function defaultStore({ env, platform, homedir }: { env: Env; platform: string; homedir: Given }): string {
  if (platform === 'win32') {
    const local = nonEmpty(env['LOCALAPPDATA']) ?? path.win32.join(given(homedir), 'AppData', 'Local');
    return path.win32.join(local, 'git-mesh', 'store');
  }
  if (platform === 'darwin')
    return path.posix.join(given(homedir), 'Library', 'Application Support', 'git-mesh', 'store');
  const data = nonEmpty(env['XDG_DATA_HOME']);
  // The XDG specification: a relative one is to be ignored.
  const share =
    data !== null && path.posix.isAbsolute(data) ? data : path.posix.join(given(homedir), '.local', 'share');
  return path.posix.join(share, 'git-mesh', 'store');
}

function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

/** The folder at or above `from` that holds `.git`; null where there is none, so that git need not be started. */
async function repositoryTop(from: string): Promise<string | null> {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    try {
      await stat(path.join(folder, '.git'));
      return folder;
    } catch {
      // Missing or unreadable: either way no repository that could answer. The folders above are tried.
    }
    if (path.dirname(folder) === folder) return null;
  }
}

/** mesh.dir with `~` expanded; null where it is not set, or git is missing, too slow, or refuses the repository. */
function meshDir(top: string, env: Env): Promise<string | null> {
  // A hook's GIT_DIR and its kin may name another repository than the one around the working directory.
  const around = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|PREFIX|TRACE.*)$/i.test(name)),
  );
  const options = { cwd: top, env: around, timeout: gitTimeoutMs, windowsHide: true };
  return new Promise((resolve) => {
    execFile('git', ['config', '--null', '--type=path', '--get', 'mesh.dir'], options, (error, stdout) => {
      resolve(error === null ? nonEmpty(stdout.split('\0')[0]) : null);
    });
  });
}
