import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MeshError } from '@git-mesh/core';
import { otherObjectFormat } from './advertisement.js';

const makeOne = 'make a bare repository with: git init --bare -b main PATH';

/**
 * Looks at what is at `path` before git does, whose own words are translated and do not tell these cases apart.
 *
 * @throws MeshError `remote_not_found`, `not_a_repository` (with why), `auth_failed` where it may not be read.
 */
export async function checkBareRepository(path: string): Promise<void> {
  const kind = await kindOf(path);
  if (kind === 'missing') {
    const hint = (await kindOf(`${path}.git`)) === 'folder' ? 'there is one with ".git" added to its name' : makeOne;
    throw new MeshError(
      'remote_not_found',
      `there is nothing at the remote's path (${hint}, or check that the disk or share is mounted)`,
    );
  }
  if (kind === 'other') {
    throw new MeshError('not_a_repository', `the remote's path is no folder: expected a bare repository (${makeOne})`);
  }
  if ((await kindOf(join(path, '.git'))) !== 'missing') throw notBare();
  const [head, objects] = [await kindOf(join(path, 'HEAD')), await kindOf(join(path, 'objects'))];
  if (head === 'missing' || objects !== 'folder') {
    throw new MeshError('not_a_repository', `the remote's path is a folder, but no git repository (${makeOne})`);
  }
  await checkConfig(join(path, 'config'));
}

async function checkConfig(config: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(config, 'utf8');
  } catch {
    // Unreadable or missing: git says so in its own words when it starts.
    return;
  }
  // The folder .git of a working tree looks like a bare repository; only this tells.
  if (/^\s*bare\s*=\s*(?:false|no|off|0)\s*$/im.test(section(text, 'core'))) throw notBare();
  // An empty repository advertises nothing, its object format included.
  const format = /^\s*objectformat\s*=\s*"?([\w-]+)/im.exec(section(text, 'extensions'))?.[1] ?? 'sha1';
  if (format.toLowerCase() !== 'sha1') throw otherObjectFormat(format);
}

function section(config: string, name: string): string {
  return new RegExp(`^\\s*\\[${name}\\]([^[]*)`, 'im').exec(config)?.[1] ?? '';
}

function notBare(): MeshError {
  return new MeshError(
    'not_a_repository',
    `the remote's path is a repository with a working tree, which must not be pushed to: expected a bare one (${makeOne})`,
  );
}

async function kindOf(path: string): Promise<'folder' | 'other' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
    if (code === 'EACCES' || code === 'EPERM') {
      throw new MeshError('auth_failed', "the remote's path may not be read by this user: check its permissions", {
        cause: error,
      });
    }
    // A share that is gone (EHOSTDOWN, ESTALE, ENXIO, EIO…), a loop of links, a name too long.
    throw new MeshError('unreachable', `the remote's path cannot be looked at (${String(code)})`, { cause: error });
  }
}
