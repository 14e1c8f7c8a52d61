import { lstat, readFile, readlink, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MeshError } from '@git-mesh/core';

/** A link that leads to a link and so on: more is a ring. */
const maxLinks = 40;

/**
 * The file behind a path that may be a symbolic link, there or not: people keep their configurations elsewhere and link
 * them.
 * @throws MeshError `forbidden` for links that lead nowhere.
 */
export async function fileBehind(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links <= maxLinks; links++) {
    const facts = await orNull(lstat(target));
    if (facts?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), await readlink(target));
  }
  throw notAllowed(path, 'its links lead in a ring', 'mend them');
}

/** A file's facts; null where there is none. */
export async function factsOf(path: string): Promise<Stats | null> {
  try {
    return await orNull(stat(path));
  } catch (error) {
    throw told(path, error);
  }
}

/**
 * The text of a configuration; null where there is none.
 * @throws MeshError `forbidden` for what cannot be read, `invalid_argument` for what is no UTF-8 text: writing it would
 *   change what was not understood.
 */
export async function readText(path: string): Promise<string | null> {
  const facts = await factsOf(path);
  if (facts === null) return null;
  // A pipe would be waited for.
  if (!facts.isFile()) throw notAllowed(path, 'it is no regular file', 'put a file there');
  const bytes = await readFile(path).catch((error: unknown) => {
    throw told(path, error);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new MeshError(
      'invalid_argument',
      `${path} is no UTF-8 text, so nothing was changed: save it as UTF-8, or add git-mesh by hand (docs/mcp-clients.md)`,
    );
  }
}

export function notAllowed(path: string, why: string, way: string): MeshError {
  return new MeshError('forbidden', `${path} cannot be changed, because ${why}; nothing was changed: ${way}, then try again`); // prettier-ignore
}

/** The system's refusal as what a person can mend; anything else as it is. */
export function told(path: string, error: unknown): unknown {
  const code = codeOf(error);
  const why = code === undefined ? undefined : refusals[code];
  return why === undefined ? error : notAllowed(path, why, 'mend that');
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'its disk is read-only',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a ring',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
};

/** @throws whatever is not the absence of the file. */
export async function orNull<T>(facts: Promise<T>): Promise<T | null> {
  try {
    return await facts;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
