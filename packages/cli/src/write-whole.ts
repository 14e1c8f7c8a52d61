import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { factsOf, fileBehind } from './setup/config-file.js';
import { UsageError } from './usage-error.js';

/**
 * A file as a whole or not at all, behind a link where it is one, with the permissions that it has.
 * @throws UsageError where it cannot be written, is read-only or is no file: then nothing was changed. MeshError `forbidden`
 *   for links that lead nowhere.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const target = await fileBehind(path);
  const facts = await factsOf(target);
  const refusal = facts === null ? null : refusalOf(facts);
  if (refusal !== null) throw notWritten(path, refusal);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    if (facts !== null) await chmod(temporary, facts.mode & 0o7777);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, error);
  }
}

/** What renaming would pass over: a device or a pipe would become a file of its name. */
function refusalOf(facts: Stats): string | null {
  if (facts.isDirectory()) return 'it is a folder';
  if (!facts.isFile()) return 'it is no regular file';
  return (facts.mode & 0o200) === 0 ? 'it is read-only' : null;
}

const advice: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'it must not be written by this user',
  EPERM: 'it must not be written by this user',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
};

const notWritten = (path: string, why: string): UsageError =>
  new UsageError(`${path} could not be written, and was not changed: ${why}`);

/** The system's refusal as what a person can mend; anything else as it is. */
function cannotWrite(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  return notWritten(path, advice[error.code] ?? error.code);
}
