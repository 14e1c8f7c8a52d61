import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { notWritten, writeTarget } from './write-target.js';

/**
 * A file as a whole or not at all, behind a link where it is one, with the permissions that it has.
 * @throws UsageError where it cannot be written, is read-only, in the store or no file: then nothing was changed. MeshError
 *   `forbidden` for links that lead nowhere.
 */
export async function writeWhole(path: string, text: string, place: { store: string }): Promise<void> {
  const { file, mode } = await writeTarget(path, place);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    if (mode !== null) await chmod(temporary, mode);
    await rename(temporary, file);
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
  return notWritten(path, advice[error.code] ?? error.code);
}
