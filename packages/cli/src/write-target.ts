import type { Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { containsPath } from '@git-mesh/core';
import { factsOf, fileBehind, orNull } from './setup/config-file.js';
import { UsageError } from './usage-error.js';

/** Where a file of a person's choice is written. */
export interface WriteTarget {
  /** Behind every link: it is replaced by a new file, and the links stay. */
  file: string;
  /** The permissions of the file that is there, which the new one gets; null where there is none. */
  mode: number | null;
}

/**
 * @param store the store's folder: what is in it is the store's own, a key that is nowhere else among it.
 * @throws UsageError for what is read-only, no file, or in the store. MeshError `forbidden` for links that lead nowhere, and
 *   for what may not be looked at.
 */
export async function writeTarget(path: string, { store }: { store: string }): Promise<WriteTarget> {
  const file = await fileBehind(path);
  if (await isIn(store, file)) throw notWritten(path, 'it is in the store itself; choose a place outside of it');
  const facts = await factsOf(file);
  const refusal = facts === null ? null : refusalOf(facts);
  if (refusal !== null) throw notWritten(path, refusal);
  return { file, mode: facts === null ? null : facts.mode & 0o7777 };
}

async function isIn(folder: string, file: string): Promise<boolean> {
  const [above, below] = await Promise.all([realpath(folder), realpath(dirname(file))].map(orNull));
  return typeof above === 'string' && typeof below === 'string' && containsPath(above, below);
}

/** What renaming would pass over: a device or a pipe would become a file of its name. */
function refusalOf(facts: Stats): string | null {
  if (facts.isDirectory()) return 'it is a folder';
  if (!facts.isFile()) return 'it is no regular file';
  return (facts.mode & 0o200) === 0 ? 'it is read-only' : null;
}

export const notWritten = (path: string, why: string): UsageError =>
  new UsageError(`${path} could not be written, and was not changed: ${why}`);
