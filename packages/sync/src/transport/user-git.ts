import { tmpdir } from 'node:os';
import { parse } from 'node:path';
import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import { startGit } from './git-process.js';

/** More than any answer of `git config` or `git credential`. */
const maxOutputBytes = 256 * 1024;

/**
 * The environment in which git answers for the user: with the user's own configuration, unlike that of `gitEnv`, but
 * without what would point it at a repository, trace it, or let it ask anybody anything. git-mesh's own variables
 * (GIT_MESH_TOKEN above all) are not handed on.
 */
function userGitEnv(env: Env): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (value === undefined || upper === 'SSH_ASKPASS' || upper === 'SSH_ASKPASS_REQUIRE') continue;
    if (upper.startsWith('GIT_') && upper !== 'GIT_EXEC_PATH' && !upper.startsWith('GIT_CONFIG')) continue;
    clean[name] = value;
  }
  // An empty askpass is git's own way to say "none"; the last is the Git Credential Manager's window.
  return { ...clean, GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '', GCM_INTERACTIVE: 'never' };
}

/**
 * Runs git as the user would outside of any repository, and resolves to its stdout; null where it failed, took longer
 * than `limitMs`, or is not installed. What it writes to stderr is dropped: it may name secrets.
 *
 * @throws MeshError `deadline` when the signal fires; the process and its children are gone by then.
 */
export async function runUserGit(
  args: readonly string[],
  options: { env: Env; input?: string; signal?: AbortSignal | undefined; limitMs: number },
): Promise<string | null> {
  const { signal } = options;
  refuseAborted(signal);
  const settings = ['-c', 'core.askPass=', '-c', 'credential.interactive=false'];
  // The root of the disk, so that the configuration of whatever repository we were started in plays no part.
  const git = startGit(['-C', parse(tmpdir()).root, ...settings, ...args], userGitEnv(options.env));
  const kill = (): void => {
    git.kill();
  };
  const timer = setTimeout(kill, options.limitMs);
  signal?.addEventListener('abort', kill, { once: true });
  let output = '';
  git.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > maxOutputBytes) kill();
  });
  git.stdout.on('error', () => undefined);
  try {
    git.stdin.end(options.input ?? '');
    const { status } = await git.ended;
    refuseAborted(signal);
    return status === 0 ? output : null;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
  }
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new MeshError('deadline', "the time was over while git was asked about the user's settings");
}
