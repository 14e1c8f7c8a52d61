import { rename, rm, writeFile } from 'node:fs/promises';
import { UsageError } from './usage-error.js';

/**
 * A file as a whole or not at all.
 * @throws UsageError where it cannot be written: then nothing was changed.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, error);
  }
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

/** The system's refusal as what a person can mend; anything else as it is. */
function cannotWrite(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  return new UsageError(`${path} could not be written, and was not changed: ${advice[error.code] ?? error.code}`);
}
