import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs stock git in a bare repository, with no configuration but its own. Gives what it printed, without the end's line feed. */
export async function git(gitdir: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', ['--git-dir', gitdir, ...args], {
    maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: process.env['PATH'],
      HOME: gitdir,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      LC_ALL: 'C',
    },
  });
  return stdout.trimEnd();
}

/** What `git fsck --strict` has to say beyond dangling objects; empty for a sound repository. */
export async function fsck(gitdir: string): Promise<string> {
  try {
    return await git(gitdir, 'fsck', '--strict', '--no-dangling', '--full');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
