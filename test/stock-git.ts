import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signedCommit } from './commit-signature.js';

const inheritedOnly = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

/**
 * Runs the git of this machine, as anyone would, with no user's configuration. Gives stdout without the last line end.
 * @throws Error with git's stderr when it fails.
 */
export function stockGit(
  args: readonly string[],
  options: { cwd?: string; input?: string | Buffer; env?: Record<string, string> } = {},
): string {
  return execFileSync('git', args, {
    cwd: options.cwd,
    input: options.input ?? '',
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...inheritedOnly(),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'someone',
      GIT_AUTHOR_EMAIL: 'someone@example.invalid',
      GIT_COMMITTER_NAME: 'someone',
      GIT_COMMITTER_EMAIL: 'someone@example.invalid',
      ...options.env,
    },
  }).trimEnd();
}

/** An empty bare repository: what machines share. */
export function bareRemote(root: string, name = 'hub.git'): string {
  const path = join(root, name);
  stockGit(['init', '-q', '--bare', '-b', 'main', path]);
  return path;
}

/**
 * Commits files onto a branch of a bare repository the way anyone who may push could, without git-mesh. The commit's
 * trailers go on from its parent's, so that only the files are unusual; `signedBy` is the store whose key signs it.
 * Gives the new tip.
 */
export function writeBranch(
  repository: string,
  ref: string,
  files: readonly { path: string; body: string | Buffer; mode?: string }[],
  options: { signedBy?: string } = {},
): string {
  const index = join(tmpdir(), `mesh-index-${randomBytes(8).toString('hex')}`);
  const env = { GIT_DIR: repository, GIT_INDEX_FILE: index };
  const git = (args: string[], input?: string | Buffer): string =>
    stockGit(args, { env, ...(input === undefined ? {} : { input }) });
  try {
    const parent = git(['for-each-ref', '--format=%(objectname)', ref]);
    let seq = 0;
    if (parent !== '') {
      git(['read-tree', parent]);
      seq = Number(git(['show', '-s', '--format=%(trailers:key=Mesh-Seq,valueonly)', parent]).trim());
    }
    for (const { path, body, mode = '100644' } of files) {
      const blob = git(['hash-object', '-w', '--stdin'], body);
      git(['update-index', '--add', '--cacheinfo', `${mode},${blob},${path}`]);
    }
    const message = `send note\n\nMesh-Event: send\nMesh-Seq: ${seq + 1}\nMesh-Journal: ${seq + 1}\n`;
    const parents = parent === '' ? [] : ['-p', parent];
    let commit = git(['commit-tree', git(['write-tree']), ...parents], message);
    if (options.signedBy !== undefined) {
      // The message ends in the one line end that stockGit takes off.
      const raw = `${git(['cat-file', 'commit', commit])}\n`;
      commit = git(['hash-object', '-t', 'commit', '-w', '--stdin'], signedCommit(raw, options.signedBy));
    }
    git(['update-ref', ref, commit]);
    return commit;
  } finally {
    rmSync(index, { force: true });
  }
}
