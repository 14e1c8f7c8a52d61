import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from '@git-mesh/core';
import { startService } from './transport/service-process.js';

export type Env = Readonly<Record<string, string | undefined>>;

/** Every command waits for it that has a local remote: a home on a slow share must not hold it up for long. */
const readTimeoutMs = 1_500;

/**
 * The environment of git processes that work on a local repository: the caller's, without anything that would point
 * git elsewhere, trace, or configure it. `globalConfig` is the file that {@link writeGitConfig} made; without one git
 * sees no configuration but the repository's own. The repository's own hooks still run.
 */
export function gitEnv(env: Env, options: { globalConfig?: string | undefined } = {}): Record<string, string> {
  return {
    ...withoutGitVariables(env),
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    // git reads /dev/null on Windows too.
    GIT_CONFIG_GLOBAL: options.globalConfig ?? '/dev/null',
  };
}

/** The environment without git's variables, git-mesh's own among them. */
export function withoutGitVariables(env: Env): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isGitVariable(name)) continue;
    clean[name] = value;
  }
  return clean;
}

/**
 * All of git's variables go, not a list of the known ones: new ones are added by every version. GIT_EXEC_PATH is kept,
 * since it tells a relocated git where its parts are. Windows compares names without case.
 */
function isGitVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return upper.startsWith('GIT_') && upper !== 'GIT_EXEC_PATH';
}

/** Arguments that go before the git command: nothing of a repository's configuration starts a program on its own. */
export const gitSafeArgs: readonly string[] = ['-c', 'core.fsmonitor=false'];

/**
 * Writes `file` as the one global configuration of local git processes: the user's own safe.directory values (of their
 * global and the system's configuration) and nothing else. Without them git refuses a repository on a share that
 * belongs to somebody else, although the user has said that it may be used. Atomic; left alone where nothing changed,
 * where the user's configuration does not answer within 1.5 s, and where the disk takes nothing: then what was known
 * before holds on. Resolves to `file`.
 *
 * @throws Error of the file system when the folder cannot be written for another reason.
 */
export async function writeGitConfig({ file, env }: { file: string; env: Env }): Promise<string> {
  const [before, system, user] = await Promise.all([
    readIfThere(file),
    env['GIT_CONFIG_NOSYSTEM'] === undefined ? safeDirectories('--system', env) : [],
    safeDirectories('--global', env),
  ]);
  if (before !== null && (system === null || user === null)) return file;
  const text = configText([...(system ?? []), ...(user ?? [])]);
  if (before === text) return file;
  try {
    await replaceFile(file, text);
  } catch (error) {
    // git takes a file that is not there for an empty one.
    if (!isErrno(error, 'ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM')) throw error;
  }
  return file;
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function configText(values: readonly string[]): string {
  const lines = values.map((value) => `\tdirectory = "${escapeValue(value)}"\n`);
  return `# Written by git-mesh: the user's safe.directory values, for git processes on local remotes.\n[safe]\n${lines.join('')}`;
}

function escapeValue(value: string): string {
  return value.replace(/[\\"]/g, (char) => `\\${char}`).replace(/\n/g, '\\n');
}

/**
 * In order, an empty one (which takes back those before it) included; none where git is missing or has none. Null where
 * git did not answer in time.
 */
async function safeDirectories(scope: '--global' | '--system', env: Env): Promise<string[] | null> {
  const args = ['config', scope, '--includes', '--null', '--get-all', 'safe.directory'];
  const git = startService({ program: 'git', args, env: untraced(env) });
  git.stdin.end();
  let values = '';
  git.stdout.on('error', () => undefined);
  git.stdout.setEncoding('utf8').on('data', (text: string) => (values += text));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, readTimeoutMs, 'late');
  });
  const end = await Promise.race([git.ended, late]);
  clearTimeout(timer);
  if (end === 'late') {
    // With all that it started: a git that is a script may wait for a child.
    git.kill();
    return null;
  }
  // Any failure means "no value": exit 1 says so, and a missing git is told by the first exchange.
  return end.status === 0 ? values.split('\0').slice(0, -1) : [];
}

/** A trace is of the git that its user runs, not of this one. */
function untraced(env: Env): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.toUpperCase().startsWith('GIT_TRACE')) defined[name] = value;
  }
  return defined;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
